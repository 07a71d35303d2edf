"""How an answer arises: the three inference steps, taken apart (eq. 15-20)."""

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.analysis.graph import Graph, Kind
from tpr_rnn.analysis.naming import Occurrence, influences, name_vectors
from tpr_rnn.analysis.schema import Answer, Asked, Origin, Part, Row, Step
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.memory import (
    SPECS,
    FactoredMemory,
    Memory,
    content_weights,
    key_rows,
    parallel,
    row_weights,
)
from tpr_rnn.models.reader import Reader


def trace_question(
    reader: Reader, graph: Graph, memory: FactoredMemory, question: str, top: int
) -> Asked:
    """Follow a question through the memory.

    Args:
        reader: the model with its words.
        graph: the nodes and relations of the story.
        memory: the memory after it.
        question: as the model reads it.
        top: how many answers to give, for each step and in the end.
    """
    model = reader.memory_model
    words = reader.words([question])
    asked = model.inference.by_name(model.inference(model.encoder(words)))
    found = model.infer(memory, asked)
    answers = _answers(reader, found["logits"][0], top)
    best, rival = found["logits"][0].topk(2).indices.tolist()

    steps = []
    entity = asked["n"]
    for number in range(1, model.config.inference_steps + 1):
        weights = row_weights(memory, entity.unsqueeze(1), asked[f"l{number}"].unsqueeze(1))
        entity = found[f"i{number}"]
        logits = entity[0] @ model.output  # eq. 20 is a sum over the steps
        retrieved = (weights @ memory.change.flatten(1, 2))[0, 0]
        (likeness,) = graph.likenesses(retrieved.unsqueeze(0))
        steps.append(
            Step(
                retrieved=likeness,
                rows=_rows(memory, weights, retrieved),
                origins=_origins(graph, memory, weights, retrieved),
                answers=_answers(reader, logits, top),
                margin=float(logits[best] - logits[rival]),
            )
        )
    return Asked(
        text=question,
        tokens=tokenize(question),
        parts=_parts(reader, graph, question, asked),
        steps=tuple(steps),
        answers=answers,
        margin=float(found["logits"][0, best] - found["logits"][0, rival]),
        leave_one_out=_leave_one_out(reader, memory, asked),
        over_time=_over_time(reader, memory, asked),
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
        kind: Kind = graph.entities if name == "n" else graph.relations
        group, cosine = None, 0.0
        if kind.groups:
            nearest, cosines, _ = kind.nearest(vector)
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


def _leave_one_out(
    reader: Reader, memory: FactoredMemory, asked: dict[str, Float[Tensor, "1 _"]]
) -> tuple[Answer, ...]:
    """The answer to the question if each sentence in turn had not been told."""
    story = memory.associations.story
    time = story.shape[1]
    others = ~torch.eye(time, dtype=torch.bool)
    shorter = story.expand(time, time)[others].view(time, max(time - 1, 0))
    _, memories = parallel(
        memory.associations._replace(story=shorter), operations=memory.operations
    )
    return _answer_of_each(reader, memories, asked, time)


def _over_time(
    reader: Reader, memory: FactoredMemory, asked: dict[str, Float[Tensor, "1 _"]]
) -> tuple[Answer, ...]:
    """The answer to the question if it had been asked after each sentence in turn."""
    story = memory.associations.story
    time = story.shape[1]
    _, memories = parallel(
        memory.associations._replace(story=story.expand(time, time)),
        operations=memory.operations,
        lengths=torch.arange(1, time + 1),
    )
    return _answer_of_each(reader, memories, asked, time)


def _answer_of_each(
    reader: Reader, memories: Memory, asked: dict[str, Float[Tensor, "1 _"]], count: int
) -> tuple[Answer, ...]:
    """The answer that each of several memories gives to one question."""
    question = {name: vector.expand(count, -1) for name, vector in asked.items()}
    y_hat = reader.memory_model.infer(memories, question)["logits"].softmax(dim=1)
    best = y_hat.max(dim=1)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(Answer(reader.vocabulary.words[word], probability) for word, probability in pairs)
