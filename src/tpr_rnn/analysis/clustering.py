"""Hierarchical clusters of learned representations, and what they agree with (section 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from tpr_rnn.analysis.naming import MAJORITY
from tpr_rnn.analysis.sentences import ASPECTS
from tpr_rnn.errors import missing_extra

Vectors = Float[np.ndarray, "n d"]


@dataclass(frozen=True)
class Clusters:
    """Clusters of vectors by direction: average linkage of cosine distances."""

    similarity: Float[np.ndarray, "n n"]
    order: Int[np.ndarray, " n"]
    """The vectors in the order of the tree, so that similar ones stand side by side."""
    label: Int[np.ndarray, " n"]
    """The cluster of each, counted from 0 along that order: branches of a mean cosine of at least
    `naming.MAJORITY`, the measure of one direction everywhere here."""


def similarities(vectors: Vectors) -> Float[np.ndarray, "n n"]:
    """The cosine of every two vectors."""
    unit = _unit(vectors)
    cosines: np.ndarray = np.clip(unit @ unit.T, -1, 1)
    return cosines


def cluster(vectors: Vectors) -> Clusters:
    """Cluster vectors by their cosines."""
    similarity = similarities(vectors)
    if len(vectors) < 2:
        single = np.zeros(len(vectors), dtype=np.int64)
        return Clusters(similarity, single, single)
    hierarchy, squareform = _scipy()
    distance = 1 - similarity
    np.fill_diagonal(distance, 0)
    tree = hierarchy.linkage(squareform(distance, checks=False), method="average")
    order = hierarchy.leaves_list(tree)
    flat = hierarchy.fcluster(tree, 1 - MAJORITY, criterion="distance")
    along = {number: index for index, number in enumerate(dict.fromkeys(flat[order].tolist()))}
    label = np.array([along[number] for number in flat.tolist()])
    return Clusters(similarity, order.astype(np.int64), label)


def agreement(label: Int[np.ndarray, " n"], said: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """Adjusted mutual information of clusters with each aspect of what the texts say.

    0 is what chance gives, 1 is the same division. Only texts that have the aspect count, and an
    aspect that is the same in all of them is left out.
    """
    try:
        from sklearn.metrics import adjusted_mutual_info_score
    except ImportError as error:
        raise missing_extra("the analysis", "scikit-learn", "analysis") from error
    found = {}
    for aspect in ASPECTS:
        rows = [row for row, text in enumerate(said) if aspect in text]
        truth = [said[row][aspect] for row in rows]
        if len(set(truth)) > 1:
            found[aspect] = float(adjusted_mutual_info_score(truth, label[rows]))
    return found


def orthogonality(vectors: Vectors, label: Int[np.ndarray, " n"]) -> tuple[float, float | None]:
    """How alike vectors are within clusters, and how far from orthogonal the clusters are.

    The first is the mean cosine of a vector with the middle of its cluster; the second the mean
    |cosine| of two such middles, or None if there is but one.
    """
    unit = _unit(vectors)
    count = int(label.max(initial=-1)) + 1
    middle = np.zeros((count, vectors.shape[1]))
    np.add.at(middle, label, unit)
    middle = _unit(middle)
    within = float((unit * middle[label]).sum(axis=1).mean())
    if count < 2:
        return within, None
    cosine = np.abs(middle @ middle.T)
    return within, float((cosine.sum() - count) / (count * (count - 1)))


def _unit(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: np.ndarray = vectors / np.maximum(length, 1e-12)
    return scaled


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy.cluster import hierarchy
        from scipy.spatial.distance import squareform
    except ImportError as error:
        raise missing_extra("the analysis", "SciPy", "analysis") from error
    return hierarchy, squareform
