"""How faithful names and explanations are to the model, measured on stories."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize

from tpr_rnn.analysis.explanation import needed, sources
from tpr_rnn.analysis.naming import WEAK
from tpr_rnn.analysis.schema import Trace
from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import answer_word
from tpr_rnn.models.reader import Reader

QUESTIONS = 40
"""Questions, each of another story, that are traced."""


def measure_faithfulness(
    reader: Reader, stories: Sequence[Story], sentences: Sequence[str], seed: int
) -> dict[str, Any]:
    """Trace some stories, and see whether names and explanations are right.

    A name is right if it has the word that decides: the one whose exchange, as between two
    sentences of the data that differ in nothing else, turns the vector most. An explanation of a
    right answer is judged by how many of the question's supporting sentences it mentions.
    """
    decisive = _decisive_words(reader, sentences)
    named: dict[str, list[float]] = defaultdict(list)
    right: dict[str, list[float]] = defaultdict(list)
    supports: list[float] = []
    mentioned: list[float] = []
    answered = 0
    rng = np.random.default_rng(seed)
    asked = [story for story in stories if story.questions]
    chosen = rng.permutation(len(asked))[:QUESTIONS].tolist()
    for story in (asked[number] for number in chosen):
        question = story.questions[int(rng.integers(len(story.questions)))]
        found = trace(reader, story.sentences[: question.after], question.text)
        for sentence in found.sentences:
            for name, part in sentence.parts.items():
                named[name].append(float(part.name.text != ""))
                word = decisive.get((name, sentence.text))
                if part.name.text and word is not None:
                    right[name].append(float(word in part.name.text.split()))
        if _is_right(found, question):
            answered += 1
            told = _mentioned(found)
            if question.supports:
                supports.append(len(told & set(question.supports)) / len(set(question.supports)))
                mentioned.append(len(told) / question.after)
    return {
        "questions": len(chosen),
        "answered": answered,
        "named": {name: _mean(values) for name, values in named.items()},
        "named_rightly": {name: _mean(values) for name, values in right.items()},
        "supports_mentioned": _mean(supports),
        "sentences_mentioned": _mean(mentioned),
    }


@torch.no_grad()
def _decisive_words(reader: Reader, sentences: Sequence[str]) -> dict[tuple[str, str], str]:
    """For each part of each sentence the word whose exchange turns it most, if one clearly does."""
    model = reader.sentence_model
    words = reader.words(sentences)
    said = model.sentence_parts(words)
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = defaultdict(list)
    for row, numbers in enumerate(words.tolist()):
        for place in range(sum(number > 0 for number in numbers)):
            others = (*numbers[:place], *numbers[place + 1 :])
            alike[place, others].append(row)
    turn = {name: torch.zeros(words.shape, dtype=vectors.dtype) for name, vectors in said.items()}
    for (place, _), group in alike.items():
        if len(group) > 1:
            rows = torch.tensor(group)
            for name, vectors in said.items():
                unit = normalize(vectors[rows], dim=1)
                cosine = ((unit @ unit.mT).sum(dim=1) - 1) / (len(group) - 1)
                turn[name][rows, place] = 1 - cosine
    found = {}
    for name, turned in turn.items():
        most, where = turned.max(dim=1)
        for row, text in enumerate(sentences):
            if most[row] >= WEAK:
                number = int(words[row, where[row]])
                found[name, text] = reader.vocabulary.words[number]
    return found


def _is_right(found: Trace, question: Question) -> bool:
    assert found.question is not None
    return found.question.answers[0].word == answer_word(question.answer)


def _mentioned(found: Trace) -> set[int]:
    """The sentences that an explanation speaks of, as positions in the whole story."""
    assert found.question is not None
    told = {part.sentence for step in found.question.steps for part in sources(found, step)}
    return {found.skipped + sentence for sentence in told | set(needed(found.question))}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
