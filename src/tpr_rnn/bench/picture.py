"""The growth of time with the length of a story, as a picture."""

from pathlib import Path
from typing import Any

from tpr_rnn.pictures import COLOURS, pyplot, save_picture


def draw_growth(growth: dict[str, Any], out: Path) -> None:
    """Write growth.png."""
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(6, 3.6), layout="constrained")
    microseconds = [1000 * ms for ms in growth["ms_per_sentence"]]
    axes.plot(growth["lengths"], microseconds, marker="o", color=COLOURS[0])
    axes.set_xscale("log")
    axes.set_ylim(0, 1.15 * max(microseconds))
    axes.set_xlabel("sentences in the story")
    axes.set_ylabel("µs a sentence")
    axes.set_title("Forward and backward, one thread: the time per sentence does not grow")
    axes.grid(alpha=0.3)
    save_picture(figure, out / "growth.png")
    plot.close(figure)
