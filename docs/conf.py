"""Settings of the documentation site (`make docs`).

The source directory is that of the repository, so that pages, reports and the log link to each
other by the same paths on the site and in the files.
"""

import os
import sys
from pathlib import Path

from docutils.nodes import Node
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tpr_rnn import __version__

sys.path.insert(0, str(Path(__file__).parent))
import generated

project = "tpr-rnn"
copyright = "the tpr-rnn developers"
release = __version__
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "results/**.md",
    "src/tpr_rnn/pretrained/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [".*", "**/.*", "build", "runs", "tests", "benchmarks", "examples"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
suppress_warnings = ["myst.header"]  # a report begins with the heading of its table

# Tutorials are run whenever the site is made; a cell that fails, fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 1200  # of a cell; a busy machine is slow
nb_merge_streams = True
nb_execution_in_temp = True
# Commands print for a page, not for a terminal: no colours, no bars that move.
os.environ.update(OMP_NUM_THREADS="1", TTY_COMPATIBLE="0", COLUMNS="88")

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 80
default_role = "code"

html_theme = "furo"
html_title = "tpr-rnn"
html_static_path = ["_static"]
html_extra_path = ["root"]  # an index.html that leads to this page
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
templates_path: list[str] = []


class Generated(SphinxDirective):
    """A part of a page that is made from the code: one of the functions of `generated.py`."""

    required_arguments = 1

    def run(self) -> list[Node]:
        """The text as nodes of the page."""
        text = getattr(generated, self.arguments[0])()
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def keep_together(app: Sphinx, page: str, source: list[str]) -> None:
    """Keep a number and its deviation on one line, in narrow columns too."""
    source[0] = source[0].replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")


def setup(app: Sphinx) -> None:
    """Make the directive known."""
    app.add_directive("generated", Generated)
    app.connect("source-read", keep_together)
