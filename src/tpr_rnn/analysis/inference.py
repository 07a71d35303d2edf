"""How an answer arises: the three inference steps, taken apart (eq. 15-20)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tpr_rnn.analysis.graph import Graph, Grouping
from tpr_rnn.analysis.naming import Occurrence, influences, name_vectors
from tpr_rnn.analysis.schema import Answer, Origin, Part, QuestionTrace, Row, Step
from tpr_rnn.data.batches import StoryGroup
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.memory import (
    SPECS,
    FactoredMemory,
    content_weights,
    key_rows,
    row_weights,
)
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.tpr_rnn import TextParts


def trace_question(
    reader: Reader,
    graph: Graph,
    memory: FactoredMemory,
    parts: TextParts,
    found: Float[Tensor, "1 s f"],
    question: str,
    top: int,
) -> QuestionTrace:
    """Follow a question through the memory.

    Args:
        reader: the model with its words.
        graph: the nodes and relations of the story.
        memory: the memory after it.
        parts: what the model makes of the sentences, and of the one question.
        found: i1, i2, i3.
        question: as the model reads it.
        top: how many answers to give, for each step and in the end.
    """
    model = reader.memory_model
    asked = model.inference.by_name(parts.asked)
    (logits,) = model.logits(found)
    best, rival = logits.topk(2).indices.tolist()

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
        text=question,
        tokens=tokenize(question),
        parts=_parts(reader, graph, question, asked),
        steps=tuple(steps),
        answers=_answers(reader, logits, top),
        margin=float(logits[best] - logits[rival]),
        leave_one_out=_leave_one_out(reader, parts),
        over_time=_over_time(reader, parts),
    )


def _answers(reader: Reader, logits: Float[Tensor, " v"], top: int) -> tuple[Answer, ...]:
    best = logits.softmax(dim=0).topk(min(top, len(logits)))
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(Answer(reader.vocabulary.words[word], probability) for word, probability in pairs)


def _parts(
    reader: Reader, graph: Graph, question: str, asked: dict[str, Float[Tensor, "1 _"]]
) -> dict[str, Part]:
    model, tokens = reader.memory_model, tokenize(question)
    turned = influences(model, model.inference, reader.words([question]))
    parts = {}
    for name, vector in asked.items():
        grouping: Grouping = graph.entities if name == "n" else graph.relations
        group, cosine = None, 0.0
        if grouping.groups:
            nearest, cosines, _ = grouping.nearest(vector)
            group, cosine = int(nearest), float(cosines)
        occurrence = Occurrence(name, tokens, tuple(turned[name][0, : len(tokens)].tolist()))
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


def _leave_one_out(reader: Reader, parts: TextParts) -> tuple[Answer, ...]:
    """The answer to the question if each sentence in turn had not been told."""
    time = len(parts.said)
    others = ~torch.eye(time, dtype=torch.bool)
    shorter = torch.arange(time).expand(time, time)[others].view(time, max(time - 1, 0))
    lengths = torch.full((time,), time - 1)
    return _likeliest(
        reader,
        parts,
        StoryGroup(shorter, lengths, torch.arange(time), position=lengths, question=_the_one(time)),
    )


def _over_time(reader: Reader, parts: TextParts) -> tuple[Answer, ...]:
    """The answer to the question if it had been asked after each sentence in turn."""
    time = len(parts.said)
    return _likeliest(
        reader,
        parts,
        StoryGroup(
            torch.arange(time).unsqueeze(0),
            torch.tensor([time]),
            about=_the_one(time),
            position=torch.arange(1, time + 1),
            question=_the_one(time),
        ),
    )


def _the_one(times: int) -> Int[Tensor, " q"]:
    """The number of the only story, or the only question, so many times."""
    return torch.zeros(times, dtype=torch.int64)


def _likeliest(reader: Reader, parts: TextParts, group: StoryGroup) -> tuple[Answer, ...]:
    """The answer to each question of a group."""
    model = reader.memory_model
    best = model.logits(model.read(parts, group).found).softmax(dim=1).max(dim=1)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(Answer(reader.vocabulary.words[word], probability) for word, probability in pairs)
