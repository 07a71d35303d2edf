"""How an answer arises: the three inference steps, taken apart (eq. 15-20)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.analysis.basis import Search, told_shares
from tpr_rnn.analysis.graph import Graph, Grouping
from tpr_rnn.analysis.naming import Occurrence, name_vectors
from tpr_rnn.analysis.schema import Answer, Basis, Origin, Part, QuestionTrace, Row, Step
from tpr_rnn.analysis.steps import Walk
from tpr_rnn.memory import (
    SPECS,
    FactoredMemory,
    content_weights,
    key_rows,
    row_weights,
)
from tpr_rnn.models.reader import Reader


def trace_question(
    reader: Reader,
    graph: Graph,
    memory: FactoredMemory,
    walk: Walk,
    top: int,
    supports: Sequence[int],
    not_told: tuple[str, ...],
) -> QuestionTrace:
    """Follow a question through the memory.

    Args:
        reader: the model with its words.
        graph: the nodes and relations of the story.
        memory: the memory after it.
        walk: what became of the question.
        top: how many answers to give, for each step and in the end.
        supports: the sentences that support the right answer, as far as that is known.
        not_told: what the question is about and the story never mentions.
    """
    model = reader.memory_model
    asked, found = walk.parts, walk.found
    (logits,) = model.logits(found)
    best, rival = reader.probabilities(logits).topk(2).indices.tolist()

    steps = []
    entity = asked["n"]
    for number in range(1, model.config.inference_steps + 1):
        weights = row_weights(memory, entity.unsqueeze(1), asked[f"l{number}"].unsqueeze(1))
        entity = found[:, number - 1]
        alone = entity[0] @ model.output  # eq. 20 is a sum over the steps
        retrieved = (weights @ memory.change.flatten(1, 2))[0, 0]
        (likeness,) = graph.likenesses(retrieved.unsqueeze(0))
        steps.append(
            Step(
                retrieved=likeness,
                rows=_rows(memory, weights, retrieved),
                origins=_origins(graph, memory, weights, retrieved),
                answers=_answers(reader, alone, top),
                margin=float(alone[best] - alone[rival]),
            )
        )
    return QuestionTrace(
        text=walk.text,
        tokens=walk.tokens,
        parts=_parts(graph, walk),
        steps=tuple(steps),
        answers=_answers(reader, logits, top),
        margin=float(logits[best] - logits[rival]),
        basis=_basis(reader, walk, steps, best, supports),
        not_told=not_told,
        leave_one_out=_likeliest(reader, walk.left_out),
        over_time=_likeliest(reader, walk.earlier),
    )


def _basis(
    reader: Reader, walk: Walk, steps: Sequence[Step], answer: int, supports: Sequence[int]
) -> Basis:
    shares = torch.tensor([told_shares(step, len(walk.left_out)) for step in steps])
    search = Search(walk, answer, shares[:, : walk.told])
    found = search.rests_on()
    others = [sentence for sentence in range(walk.told) if sentence not in found]
    alone, without = _likeliest(reader, walk.with_only([sorted(found), others]))
    return Basis(found, alone, without, search.unused(found, supports))


def _answers(reader: Reader, logits: Float[Tensor, " v"], top: int) -> tuple[Answer, ...]:
    best = reader.probabilities(logits).topk(min(top, len(logits) - 1))
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(Answer(reader.vocabulary.words[word], probability) for word, probability in pairs)


def _parts(graph: Graph, walk: Walk) -> dict[str, Part]:
    parts = {}
    for name, vector in walk.parts.items():
        grouping: Grouping = graph.entities if name == "n" else graph.relations
        group, cosine = None, 0.0
        if grouping.groups:
            nearest, cosines, _ = grouping.nearest(vector)
            group, cosine = int(nearest), float(cosines)
        occurrence = Occurrence(name, walk.tokens, walk.turned[name])
        (own_name,) = name_vectors([occurrence], [0])
        parts[name] = Part(own_name, group, cosine, occurrence.shares())
    return parts


def _rows(
    memory: FactoredMemory, weights: Float[Tensor, "1 1 k"], retrieved: Float[Tensor, " f"]
) -> tuple[Row, ...]:
    """What each operation of each sentence contributes: attention over all changes."""
    shares = _shares(weights, memory.change.flatten(1, 2), retrieved)
    operations = memory.operations
    return tuple(
        Row(row // len(operations), operations[row % len(operations)], weight, share)
        for row, (weight, share) in enumerate(zip(weights[0, 0].tolist(), shares, strict=True))
    )


def _origins(
    graph: Graph,
    memory: FactoredMemory,
    weights: Float[Tensor, "1 1 k"],
    retrieved: Float[Tensor, " f"],
) -> tuple[Origin, ...]:
    """What each told entity contributes, through whatever operations it came here.

    An operation that stores no entity of the sentence (move) only passes on what others told.
    """
    told = content_weights(memory, weights)
    shares = _shares(told, key_rows(memory.associations, memory.operations).content, retrieved)
    origins = []
    for row, (weight, share) in enumerate(zip(told[0, 0].tolist(), shares, strict=True)):
        sentence, index = divmod(row, len(memory.operations))
        for part in SPECS[memory.operations[index]].content:
            node = graph.entities.of[sentence, part]
            origins.append(Origin(sentence, part, node, weight, share))
    return tuple(origins)


def _shares(
    weights: Float[Tensor, "1 1 k"],
    vectors: Float[Tensor, "1 k f"],
    retrieved: Float[Tensor, " f"],
) -> list[float]:
    """The share of each weighted vector in their sum: how far it goes in its direction."""
    length = retrieved.square().sum()
    if not 0 < length < torch.inf:  # an empty memory, or one that has blown up
        return [0.0] * vectors.shape[1]
    shares: list[float] = (weights[0, 0] * (vectors[0] @ retrieved) / length).tolist()
    return shares


def _likeliest(reader: Reader, logits: Float[Tensor, "t v"]) -> tuple[Answer, ...]:
    """The answer that each row gives."""
    best = reader.probabilities(logits).max(dim=1)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(Answer(reader.vocabulary.words[word], probability) for word, probability in pairs)
