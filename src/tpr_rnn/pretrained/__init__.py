"""The model that ships with the package: this directory holds it as a run directory would."""

from pathlib import Path
from typing import TYPE_CHECKING

from tpr_rnn.errors import UserError

if TYPE_CHECKING:
    from tpr_rnn.models.reader import Reader

DIRECTORY = Path(__file__).parent


def pretrained_run() -> Path:
    """The run directory of the model that ships with this version."""
    if not (DIRECTORY / "model.safetensors").is_file():
        raise UserError(
            "no model ships with this version of tpr-rnn; train one with `tpr-rnn train --task 1` "
            "(half a minute) and name its run directory"
        )
    return DIRECTORY


def load_pretrained() -> "Reader":
    """The reader that ships with this version."""
    from tpr_rnn.models.reader import Reader

    return Reader.load(pretrained_run())
