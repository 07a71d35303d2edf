"""The bundled model, in the form of a run directory."""

from pathlib import Path
from typing import TYPE_CHECKING

from tpr_rnn.errors import UserError

if TYPE_CHECKING:
    from tpr_rnn.models.reader import Reader

DIRECTORY = Path(__file__).parent


def has_pretrained() -> bool:
    """Whether this version has a bundled model."""
    return (DIRECTORY / "model.safetensors").is_file()


def pretrained_run() -> Path:
    """The run directory of the bundled model."""
    if not has_pretrained():
        raise UserError(
            "this version of tpr-rnn has no bundled model; train one with `tpr-rnn train --task 1` "
            "(half a minute) and name its run directory"
        )
    return DIRECTORY


def load_pretrained() -> "Reader":
    """The bundled model."""
    from tpr_rnn.models.reader import Reader

    return Reader.load(pretrained_run())
