"""Pictures by matplotlib: the same bytes for the same content."""

from pathlib import Path
from typing import Any

from tpr_rnn.errors import UserError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Of Okabe and Ito: told apart by everybody."""


def pyplot() -> Any:
    """Matplotlib's pyplot, drawing to files alone."""
    try:
        import matplotlib
    except ImportError as error:
        raise UserError(
            "pictures need matplotlib; install it with: pip install 'tpr-rnn[plot]'"
        ) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, out: Path, name: str) -> None:
    """Write NAME.png and NAME.svg, without dates, versions or random names in them."""
    from matplotlib import rc_context

    figure.savefig(out / f"{name}.png", dpi=150, metadata={"Software": None})
    with rc_context({"svg.hashsalt": name}):
        figure.savefig(out / f"{name}.svg", metadata={"Date": None, "Creator": None})
