"""Similarity matrices of representations, clustered as in figure 4 and appendix C of the paper."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tpr_rnn.analysis.clustering import Clusters
from tpr_rnn.pictures import pyplot, save_picture

COLOURS = "RdBu_r"
"""Red for the same direction, white for orthogonal ones, blue for opposite ones."""


def draw_matrix(
    name: str, texts: Sequence[str], clusters: Clusters, caption: str, path: Path
) -> None:
    """One representation, every row with its text; `path` is without its ending."""
    plot = pyplot("analysis")
    side = max(3.0, 0.15 * len(texts))
    letters = max(map(len, texts), default=0)
    width = side + 0.075 * letters + 1.6
    figure, axes = plot.subplots(figsize=(width, side + 0.9))
    image = _show(axes, clusters)
    axes.set_yticks(range(len(texts)), [texts[row] for row in clusters.order], fontsize=8)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.set_title(f"{_symbol(name)}: {caption}")
    _scale(figure, image, axes)
    _save(plot, figure, path)


def draw_matrices(
    clusters_of: Mapping[str, Clusters], captions: Mapping[str, str], title: str, path: Path
) -> None:
    """All representations side by side; `path` is without its ending."""
    plot = pyplot("analysis")
    count = len(clusters_of)
    size = (3.1 * count + 0.9, 3.7)
    figure, row = plot.subplots(1, count, figsize=size, layout="constrained", squeeze=False)
    for axes, (name, clusters) in zip(row[0], clusters_of.items(), strict=True):
        image = _show(axes, clusters)
        axes.set(xticks=[], yticks=[])
        axes.set_title(f"{_symbol(name)}: {captions[name]}", fontsize=10)
    figure.suptitle(title)
    _scale(figure, image, row[0].tolist())
    _save(plot, figure, path)


def _show(axes: Any, clusters: Clusters) -> Any:
    ordered = clusters.similarity[np.ix_(clusters.order, clusters.order)]
    return axes.imshow(ordered, cmap=COLOURS, vmin=-1, vmax=1, interpolation="none")


def _symbol(name: str) -> str:
    """As the paper writes it: a number in brackets above the letter."""
    return f"${name[0]}^{{({name[1:]})}}$" if name[1:] else f"${name}$"


def _scale(figure: Any, image: Any, axes: Any) -> None:
    bar = figure.colorbar(image, ax=axes, ticks=[-1, 0, 1], shrink=0.8, pad=0.03)
    bar.ax.set_yticklabels(["-1 opposite", "0 orthogonal", "1 same"])
    bar.ax.set_title("cosine", fontsize=10, loc="left")


def _save(plot: Any, figure: Any, path: Path) -> None:
    save_picture(figure, path.with_name(path.name + ".png"))
    plot.close(figure)
