"""What the representations of a model hold, in numbers, pictures and lists.

Written to a directory:

sentences, questions       all matrices side by side (.png)
e1, e2, r1, r2, r3         a matrix with its sentences (.png), and the same as a list (.txt)
n, l1, l2, l3              the same for the questions
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tpr_rnn.analysis.clustering import Clusters, Vectors, agreement, cluster, orthogonality
from tpr_rnn.analysis.faithfulness import measure_faithfulness
from tpr_rnn.analysis.figures import draw_matrices, draw_matrix
from tpr_rnn.analysis.sentences import aspects
from tpr_rnn.data.story import Story
from tpr_rnn.models.reader import Reader

AGREES = 0.5
"""Captions name aspects from this agreement on."""

OVERVIEW = 320
"""The matrices side by side show so many texts at most, chosen at random."""


@dataclass(frozen=True)
class Represented:
    """Texts and what one half of the model makes of them."""

    kind: str
    """"sentences" or "questions"."""
    texts: Sequence[str]
    vectors: Mapping[str, Vectors]
    """By the paper's names."""

    def some(self, rows: Sequence[int]) -> "Represented":
        """Only these texts."""
        kept = {name: vectors[rows] for name, vectors in self.vectors.items()}
        return Represented(self.kind, [self.texts[row] for row in rows], kept)


def analyze(
    reader: Reader,
    stories: Mapping[str, Sequence[Story]],
    out: Path,
    *,
    sample: int,
    seed: int,
) -> dict[str, Any]:
    """Analyse a model on the sentences and questions of stories; draw and list them.

    Args:
        reader: a trained model.
        stories: those of each task; the different sentences and questions come from them.
        out: an existing directory.
        sample: texts in a picture with labels; chosen at random if there are more.
        seed: of that choice.

    Returns:
        The numbers; `report.representations` writes them down.
    """
    everything = [story for some in stories.values() for story in some]
    sentences = list(dict.fromkeys(told for story in everything for told in story.sentences))
    questions = list(dict.fromkeys(asked.text for story in everything for asked in story.questions))
    model = reader.memory_model.eval()
    report: dict[str, Any] = {"unit": model.unit, "seed": seed, "sample": sample}
    for kind, texts, take_apart in (
        ("sentences", sentences, model.sentence_parts),
        ("questions", questions, model.question_parts),
    ):
        with torch.no_grad():
            parts = take_apart(reader.words(texts))
        vectors = {name: part.double().numpy() for name, part in parts.items()}
        whole = Represented(kind, texts, vectors)
        report[kind] = _measure(whole)
        _draw(whole, report[kind], out, sample, seed)
    report["faithfulness"] = measure_faithfulness(reader, stories, sentences, seed)
    return report


def _measure(whole: Represented) -> dict[str, Any]:
    said = [aspects(text) for text in whole.texts]
    found: dict[str, Any] = {
        "texts": len(whole.texts),
        "understood": sum(map(bool, said)),
        "representations": {},
    }
    for name, vectors in whole.vectors.items():
        label = cluster(vectors).label
        within, between = orthogonality(vectors, label)
        found["representations"][name] = {
            "clusters": int(label.max(initial=-1)) + 1,
            "cosine_within": round(within, 4),
            "cosine_between": None if between is None else round(between, 4),
            "agreement": {key: round(value, 4) for key, value in agreement(label, said).items()},
        }
    return found


def agreements(measured: Mapping[str, Any]) -> str:
    """The aspects with which the clusters of a representation agree best."""
    ranked = sorted(measured["agreement"].items(), key=lambda pair: -pair[1])
    good = [f"{aspect} {value:.2f}" for aspect, value in ranked if value >= AGREES]
    return ", ".join(good[:2]) or "none over 0.5"


def _draw(
    whole: Represented, measured: Mapping[str, Any], out: Path, sample: int, seed: int
) -> None:
    numbers = measured["representations"]
    many = whole.some(_sample(len(whole.texts), OVERVIEW, seed))
    captions = {
        name: f"{found['clusters']} clusters\n{agreements(found)}"
        for name, found in numbers.items()
    }
    title = f"{_chosen(many, whole)}; below: agreement of the clusters with what is said (AMI)"
    draw_matrices(_clusters(many), captions, title, out / whole.kind)
    few = whole.some(_sample(len(whole.texts), sample, seed))
    for name, clusters in _clusters(few).items():
        in_all = f"all: {numbers[name]['clusters']} clusters, AMI: {agreements(numbers[name])}"
        draw_matrix(name, few.texts, clusters, f"{_chosen(few, whole)}\n({in_all})", out / name)
        (out / f"{name}.txt").write_text(_list(few.texts, clusters), "utf-8")


def _chosen(some: Represented, whole: Represented) -> str:
    if len(some.texts) == len(whole.texts):
        return f"all {len(whole.texts)} different {whole.kind}"
    return f"{len(some.texts)} of {len(whole.texts)} different {whole.kind}"


def _clusters(represented: Represented) -> dict[str, Clusters]:
    return {name: cluster(vectors) for name, vectors in represented.vectors.items()}


def _sample(count: int, most: int, seed: int) -> list[int]:
    """All rows if they are few enough, else some of them at random, in their order."""
    if count <= most:
        return list(range(count))
    rows = np.random.default_rng(seed).choice(count, size=most, replace=False)
    return sorted(rows.tolist())


def _list(texts: Sequence[str], clusters: Clusters) -> str:
    """The texts in the order of the picture, a blank line between two clusters."""
    lines: list[str] = []
    before = None
    for row in clusters.order.tolist():
        if before is not None and clusters.label[row] != before:
            lines.append("")
        before = clusters.label[row]
        lines.append(f"{row + 1:4}: {texts[row]}")
    return "\n".join(lines) + "\n"
