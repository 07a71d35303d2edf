"""A story, and a question about it, as a model reads them: step by step.

A step is what updates the memory once: a sentence of the story or, for a word-level model, a word
of the story or of the question.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cosine_similarity

from tpr_rnn.analysis.naming import influences
from tpr_rnn.data.batches import StoryGroup
from tpr_rnn.data.simulator.maps import DIRECTIONS
from tpr_rnn.data.simulator.words import COMMON
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.data.word_stream import WordStream
from tpr_rnn.memory import FactoredMemory, Memory
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.tpr_rnn import TPRRNN, TextParts
from tpr_rnn.models.word_level import WordLevel

Subsets = Sequence[Sequence[int]]
"""Some of a story's steps, in their order, each time."""

RELATING = {*COMMON, *DIRECTIONS, "above", "afraid", "below", "bigger", "inside", "right"}
"""Words of bAbI's English that name nothing, but say how things stand to each other."""

AT_A_TIME = 64
"""Changed copies of a story that a word-level model reads together."""


@dataclass(frozen=True)
class Walk:
    """What became of a question."""

    text: str
    tokens: tuple[str, ...]
    parts: dict[str, Float[Tensor, "1 _"]]
    """n, l1, l2, l3."""
    turned: dict[str, tuple[float, ...]]
    """How far each token turns each part: 1 - cosine."""
    found: Float[Tensor, "1 s f"]
    """i1, i2, i3."""
    told: int
    """How many steps are of the story; those of the question come after them."""
    telling: tuple[tuple[int, ...], ...]
    """The steps of the story that have each of the question's words that name something."""
    with_only: Callable[[Subsets], Float[Tensor, "n v"]]
    """The logits of the answer with only these steps of the story, for each of some subsets."""
    left_out: Float[Tensor, "t v"]
    """The logits of the answer without each step."""
    earlier: Float[Tensor, "t v"]
    """The logits of the answer if it had been asked after each step."""


@dataclass(frozen=True)
class Steps:
    """What a story told the memory."""

    unit: Literal["sentence", "word"]
    texts: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    """The words that may count in each step."""
    line: tuple[int, ...]
    """The sentence of each step; the question is that after the last one."""
    said: dict[str, Float[Tensor, "t _"]]
    """e1, e2, r1, r2, r3 of each step."""
    turned: dict[str, list[tuple[float, ...]]]
    """How far each token of each step turns each part: 1 - cosine."""
    memory: FactoredMemory
    walk: Walk | None


def follow(reader: Reader, story: Sequence[str], question: str | None) -> Steps:
    """Read a story, and a question about it, and keep what is made of each step.

    Args:
        reader: a trained model with its words.
        story: the sentences, each with its final mark.
        question: the same, asked after the last sentence.
    """
    model = reader.memory_model.eval()
    if isinstance(model, WordLevel):
        return _follow_words(reader, model, story, question)
    return _follow_sentences(reader, model, story, question)


def texts_of_steps(reader: Reader, sentences: Iterable[str]) -> list[str]:
    """The different texts whose last word is a step: sentences or, of words, their beginnings."""
    if reader.memory_model.unit == "sentence":
        return list(dict.fromkeys(sentences))
    beginnings = (
        " ".join(words[: place + 1])
        for words in map(tokenize, sentences)
        for place in range(len(words))
    )
    return list(dict.fromkeys(beginnings))


def _follow_sentences(
    reader: Reader, model: TPRRNN, story: Sequence[str], question: str | None
) -> Steps:
    asked = [] if question is None else [question]
    words, asked_words = reader.words(story), reader.words(asked)
    parts = model.parts(words, asked_words)
    _, memory, found = model.read(parts, StoryGroup.of_one(len(story), questions=len(asked)))
    tokens = tuple(map(tokenize, story))
    turned = {
        name: [tuple(row[: len(own)]) for row, own in zip(table.tolist(), tokens, strict=True)]
        for name, table in influences(model, model.update, words).items()
    }
    walk = None
    if question is not None:
        own = tokenize(question)
        table = influences(model, model.inference, asked_words)
        walk = Walk(
            text=question,
            tokens=own,
            parts=model.inference.by_name(parts.asked),
            turned={name: tuple(row[0, : len(own)].tolist()) for name, row in table.items()},
            found=found,
            told=len(story),
            telling=_telling(own, tokens),
            with_only=partial(_with_only, model, parts),
            left_out=_with_only(model, parts, _all_but_one(len(story))),
            earlier=_after_each_sentence(model, parts),
        )
    said = model.update.by_name(parts.said)
    return Steps(
        unit=model.unit,
        texts=tuple(story),
        tokens=tokens,
        line=tuple(range(len(story))),
        said=said,
        turned=turned,
        memory=_factored(memory),
        walk=walk,
    )


def _telling(
    question: Sequence[str], story: Sequence[Sequence[str]]
) -> tuple[tuple[int, ...], ...]:
    """The steps with each word of a question that names something of the story."""
    naming = [
        word for word in dict.fromkeys(question) if word[0].isalnum() and word not in RELATING
    ]
    steps = [tuple(t for t, said in enumerate(story) if word in said) for word in naming]
    return tuple(telling for telling in steps if telling)


def _with_only(model: TPRRNN, parts: TextParts, subsets: Subsets) -> Float[Tensor, "n v"]:
    lengths = torch.tensor([len(subset) for subset in subsets], dtype=torch.int64)
    story = torch.zeros(len(subsets), max(map(len, subsets), default=0), dtype=torch.int64)
    for row, subset in enumerate(subsets):
        story[row, : len(subset)] = torch.tensor(subset, dtype=torch.int64)
    about = torch.arange(len(subsets))
    group = StoryGroup(story, lengths, about, lengths, question=_the_one(len(subsets)))
    return model.logits(model.read(parts, group).found)


def _all_but_one(steps: int) -> Subsets:
    return [[*range(step), *range(step + 1, steps)] for step in range(steps)]


def _after_each_sentence(model: TPRRNN, parts: TextParts) -> Float[Tensor, "t v"]:
    time = len(parts.said)
    group = StoryGroup(
        torch.arange(time).unsqueeze(0),
        torch.tensor([time]),
        about=_the_one(time),
        position=torch.arange(1, time + 1),
        question=_the_one(time),
    )
    return model.logits(model.read(parts, group).found)


def _the_one(times: int) -> Int[Tensor, " q"]:
    """The number of the only story, or the only question, so many times."""
    return torch.zeros(times, dtype=torch.int64)


def _follow_words(
    reader: Reader, model: WordLevel, story: Sequence[str], question: str | None
) -> Steps:
    """The words of a question are steps too: when it is answered, the memory has been told them."""
    sentences = [tokenize(text) for text in (*story, *([] if question is None else [question]))]
    words = [reader.vocabulary.number(word) for sentence in sentences for word in sentence]
    read = model.read(_stream([words], asked=question is not None))
    said, asked = model.said_by_name(read.said[0]), model.asked_by_name(read.asked)
    turned, asked_turned = _turned(model, words, said, asked)
    tokens = tuple(
        sentence[: place + 1] for sentence in sentences for place in range(len(sentence))
    )
    walk = None
    if question is not None:
        own = len(sentences[-1])
        told = len(words) - own
        sooner = [words[:step] + words[told:] for step in range(1, told + 1)]
        walk = Walk(
            text=question,
            tokens=sentences[-1],
            parts=asked,
            turned={name: tuple(row[told:].tolist()) for name, row in asked_turned.items()},
            found=read.found,
            told=told,
            telling=_telling(sentences[-1], [own[-1:] for own in tokens[:told]]),
            with_only=partial(_with_only_words, model, words, told),
            left_out=_answers(
                model, [[words[t] for t in kept] for kept in _all_but_one(len(words))]
            ),
            earlier=_answers(model, [*sooner, *[words] * own]),
        )
    return Steps(
        unit=model.unit,
        texts=tuple(
            " ".join((*sentence[:place], f"[{word}]", *sentence[place + 1 :]))
            for sentence in sentences
            for place, word in enumerate(sentence)
        ),
        tokens=tokens,
        line=tuple(number for number, sentence in enumerate(sentences) for _ in sentence),
        said=said,
        turned={
            name: [
                tuple(table[t + 1 - len(own) : t + 1, t].tolist()) for t, own in enumerate(tokens)
            ]
            for name, table in turned.items()
        },
        memory=_factored(read.memory),
        walk=walk,
    )


def _with_only_words(
    model: WordLevel, words: list[int], told: int, subsets: Subsets
) -> Float[Tensor, "n v"]:
    return _answers(model, [[words[t] for t in kept] + words[told:] for kept in subsets])


def _turned(
    model: WordLevel,
    words: list[int],
    said: dict[str, Float[Tensor, "w _"]],
    asked: dict[str, Float[Tensor, "q _"]],
) -> tuple[dict[str, Float[Tensor, "w w"]], dict[str, Float[Tensor, " _"]]]:
    """How far each word (row) turns the parts of each word, and those of a question at the end.

    Each in turn is replaced by the average word, as in `naming.influences`.
    """
    vectors = model.word_vectors[words]
    by_word: dict[str, list[Tensor]] = {name: [vectors.new_zeros(0, len(words))] for name in said}
    by_question: dict[str, list[Tensor]] = {name: [vectors.new_zeros(0)] for name in asked}
    for some in torch.arange(len(words)).split(AT_A_TIME):
        copies = vectors.repeat(len(some), 1, 1)
        copies[torch.arange(len(some)), some] = model.word_vectors.mean(dim=0)
        states = model.lstm(copies)[0]
        for name, new in model.said_by_name(model.said(states)).items():
            by_word[name].append(_turn(new, said[name]))
        for name, new in model.asked_by_name(model.asked(states[:, -1])).items():
            if len(asked[name]):
                by_question[name].append(_turn(new, asked[name]))
    return (
        {name: torch.cat(rows) for name, rows in by_word.items()},
        {name: torch.cat(rows) for name, rows in by_question.items()},
    )


def _turn(new: Float[Tensor, "*n d"], old: Float[Tensor, "*m d"]) -> Float[Tensor, "*n"]:
    return 1 - cosine_similarity(new, old, dim=-1).clamp(max=1)


def _answers(model: WordLevel, sequences: Sequence[list[int]]) -> Float[Tensor, "n v"]:
    """The logits of the answer at the end of each sequence of words."""
    logits = [
        model.logits(model.read(_stream(sequences[first : first + AT_A_TIME])).found)
        for first in range(0, len(sequences), AT_A_TIME)
    ]
    return torch.cat(logits)


def _stream(sequences: Sequence[list[int]], asked: bool = True) -> WordStream:
    """Sequences of words, each with a question at its end, if any."""
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    words = torch.zeros(len(sequences), int(lengths.max()), dtype=torch.int64)
    for row, sequence in enumerate(sequences):
        words[row, : len(sequence)] = torch.tensor(sequence, dtype=torch.int64)
    about = torch.arange(len(sequences) if asked else 0)
    nothing = torch.zeros_like(words, dtype=torch.bool)
    return WordStream(words, lengths, about, lengths[about] - 1, asked=nothing, told=words > 0)


def _factored(memory: Memory) -> FactoredMemory:
    assert isinstance(memory, FactoredMemory)  # read from nothing
    return memory
