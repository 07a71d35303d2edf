"""Pictures by matplotlib: without a screen, and the same bytes for the same content."""

from pathlib import Path
from typing import Any

from tpr_rnn.errors import UserError, missing_extra

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The palette of Okabe and Ito, safe for colour-blind readers."""
FORMATS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 150

# Without these, two equal pictures would differ in dates, versions and random names in the file.
_TIMELESS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_SALT: Any = {"svg.hashsalt": "tpr-rnn"}


def pyplot(extra: str = "plot") -> Any:
    """matplotlib.pyplot, or the advice to install the extra of this package that brings it."""
    try:
        import matplotlib
    except ImportError as error:
        raise missing_extra("a picture", "matplotlib", extra) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def check_format(path: Path) -> None:
    """Refuse a file name without the ending of a picture format."""
    if path.suffix not in FORMATS:
        raise UserError(f"{path}: a picture's name ends in {', '.join(FORMATS)}")


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure to a file, by its ending."""
    from matplotlib import rc_context

    check_format(path)
    try:
        with rc_context(_SALT):
            # Tight: labels outside the layout are drawn too.
            figure.savefig(
                path,
                dpi=DOTS_PER_INCH,
                bbox_inches="tight",
                metadata=_TIMELESS[path.suffix],
            )
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from error
