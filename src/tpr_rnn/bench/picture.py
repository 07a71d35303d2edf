"""The growth of time with the length of a story, as a picture."""

from collections.abc import Sequence
from pathlib import Path

from tpr_rnn.pictures import COLOURS, pyplot, save_picture


def draw_growth(
    path: Path, lengths: Sequence[int], microseconds: Sequence[float], *, of: str
) -> None:
    """Draw the microseconds of one sentence, or of one step, at each length."""
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot(lengths, microseconds, marker="o", color=COLOURS[0])
    axes.set_xscale("log")
    axes.set_ylim(0, 1.15 * max(microseconds))
    axes.set_xlabel(f"{of}s")
    axes.set_ylabel(f"µs a {of}")
    axes.set_title(f"Forward and backward, one thread: the time per {of} does not grow")
    axes.grid(alpha=0.3)
    save_picture(figure, path)
    plot.close(figure)
