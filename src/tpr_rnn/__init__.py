"""Learning to reason with third-order tensor products.

The names below are the library's front door. They are imported when they are first used, so that
`import tpr_rnn`, and with it the command line's help, does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tpr_rnn.analysis.trace import trace
    from tpr_rnn.data.babi.format import parse_stories, read_stories
    from tpr_rnn.data.corpus import load_corpus
    from tpr_rnn.data.dataset import Corpus
    from tpr_rnn.data.story import Question, Story
    from tpr_rnn.data.vocabulary import Vocabulary
    from tpr_rnn.errors import UserError
    from tpr_rnn.memory import (
        Associations,
        DenseMemory,
        FactoredMemory,
        Queries,
        densify,
        parallel,
        read,
        sequential,
    )
    from tpr_rnn.models.reader import Answer, Reader
    from tpr_rnn.models.tpr_rnn import TPRRNN, TPRRNNConfig
    from tpr_rnn.nn import MemoryState, TPRMemory
    from tpr_rnn.pretrained import load_pretrained
    from tpr_rnn.training.preset import Preset
    from tpr_rnn.training.presets import PRESETS
    from tpr_rnn.training.recipe import Recipe
    from tpr_rnn.training.run import train

_HOME = {
    "tpr_rnn.analysis.trace": ("trace",),
    "tpr_rnn.data.babi.format": ("parse_stories", "read_stories"),
    "tpr_rnn.data.story": ("Question", "Story"),
    "tpr_rnn.data.corpus": ("load_corpus",),
    "tpr_rnn.data.dataset": ("Corpus",),
    "tpr_rnn.data.vocabulary": ("Vocabulary",),
    "tpr_rnn.errors": ("UserError",),
    "tpr_rnn.memory": (
        "Associations",
        "DenseMemory",
        "FactoredMemory",
        "Queries",
        "densify",
        "parallel",
        "read",
        "sequential",
    ),
    "tpr_rnn.models.reader": ("Answer", "Reader"),
    "tpr_rnn.models.tpr_rnn": ("TPRRNN", "TPRRNNConfig"),
    "tpr_rnn.nn": ("MemoryState", "TPRMemory"),
    "tpr_rnn.pretrained": ("load_pretrained",),
    "tpr_rnn.training.preset": ("Preset",),
    "tpr_rnn.training.presets": ("PRESETS",),
    "tpr_rnn.training.recipe": ("Recipe",),
    "tpr_rnn.training.run": ("train",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "PRESETS",
    "TPRRNN",
    "Answer",
    "Associations",
    "Corpus",
    "DenseMemory",
    "FactoredMemory",
    "MemoryState",
    "Preset",
    "Queries",
    "Question",
    "Reader",
    "Recipe",
    "Story",
    "TPRMemory",
    "TPRRNNConfig",
    "UserError",
    "Vocabulary",
    "densify",
    "load_corpus",
    "load_pretrained",
    "parallel",
    "parse_stories",
    "read",
    "read_stories",
    "sequential",
    "trace",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'tpr_rnn' has no attribute '{name}'")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
