"""All code of the documentation runs as it stands: the pages of the site, and the README.

The cells of a page run one after the other in one namespace, as in a notebook. A line that begins
with `!` is a command; it runs in this process, with names in braces as in a notebook.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import matplotlib
import pytest

from cli.command import run

ROOT = Path(__file__).parents[2]
CELLS = re.compile(r"^```(?:python|\{code-cell\}.*)\n((?:.*\n)*?)```$", re.MULTILINE)
PAGES = {
    path.relative_to(ROOT).as_posix(): CELLS.findall(path.read_text("utf-8"))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
SLOW = {"docs/tutorials/look-inside.md", "docs/tutorials/own-data.md", "docs/tutorials/study.md"}
"""They train several models."""


def _page(name: str) -> "pytest.ParameterSet":
    return pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])


def test_there_are_pages_with_code() -> None:
    assert {page for page, cells in PAGES.items() if cells} >= {"README.md", "docs/layer.md", *SLOW}


@pytest.mark.parametrize("page", [_page(page) for page, cells in PAGES.items() if cells])
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    names = {"command": command}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(PAGES[page], start=1):
            exec(compile(_python(cell), f"{page}, cell {number}", "exec"), names)
    if page == "README.md":
        error, best, *_ = printed.getvalue().splitlines()
        assert float(error) <= 0.5
        assert best.split()[0] == "office"


def _python(cell: str) -> str:
    """A cell without its options, its commands as calls."""
    cell = re.sub(r"^:.*\n", "", cell, flags=re.MULTILINE)
    return re.sub(r"^!(.*)$", lambda found: f"command(f{found[1]!r})", cell, flags=re.MULTILINE)


def command(line: str) -> None:
    """Run `tpr-rnn ...`; with `|| true` at its end it is to be refused."""
    refused = line.endswith("|| true")
    _, *arguments = shlex.split(line.removesuffix("|| true"))
    ended = run(*arguments)
    assert ended.returncode == (2 if refused else 0), ended.stderr
