"""How faithful names and explanations are to the model, measured on stories."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize

from tpr_rnn.analysis.naming import WEAK
from tpr_rnn.analysis.schema import Answer, QuestionTrace, Trace
from tpr_rnn.analysis.steps import texts_of_steps
from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import answer_word, tokenize
from tpr_rnn.models.reader import Reader

QUESTIONS = 50
"""Questions of a task, each of another story, that are traced."""

CLEARLY = 0.5
"""An answer that loses so much of its probability has changed clearly."""


def measure_faithfulness(
    reader: Reader, stories: Mapping[str, Sequence[Story]], sentences: Sequence[str], seed: int
) -> dict[str, Any]:
    """Trace some stories of each task, and see whether names and explanations are right.

    A name is right if it has the word that decides: the one whose exchange, as between two
    sentences of the data that differ in nothing else, turns the vector most. The sentences that an
    explanation of a right answer names are compared with the supporting sentences of the question,
    and tested by reading the story without them, and them alone.
    """
    decisive = _decisive_words(reader, sentences)
    named: dict[str, list[float]] = defaultdict(list)
    right: dict[str, list[float]] = defaultdict(list)
    by_task: dict[str, dict[str, Any]] = {}
    traced = 0
    for task, told in stories.items():
        measured = []
        for story, question in choose_questions(told, QUESTIONS, seed):
            traced += 1
            found = trace(reader, story.sentences[: question.after], question.text)
            for sentence in found.sentences:
                for name, part in sentence.parts.items():
                    named[name].append(float(part.name.text != ""))
                    word = decisive.get((name, sentence.tokens))
                    if part.name.text and word is not None:
                        right[name].append(float(word in part.name.text.split()))
            assert found.question is not None
            if question.supports and found.question.answers[0].word == answer_word(question.answer):
                measured.append(_explanation(found, found.question, question))
        if measured:
            by_task[task] = {"answers": len(measured)} | _means(measured)
    return {
        "questions": traced,
        "named": {name: _mean(values) for name, values in named.items()},
        "named_rightly": {name: _mean(values) for name, values in right.items()},
        "explanations": by_task,
        "explanations_mean": _means(list(by_task.values())),
    }


def choose_questions(
    stories: Sequence[Story], count: int, seed: int
) -> list[tuple[Story, Question]]:
    """So many stories in random order, each with one of its questions."""
    rng = np.random.default_rng(seed)
    asked = [story for story in stories if story.questions]
    chosen = rng.permutation(len(asked))[:count].tolist()
    return [
        (asked[number], asked[number].questions[int(rng.integers(len(asked[number].questions)))])
        for number in chosen
    ]


def _explanation(found: Trace, asked: QuestionTrace, question: Question) -> dict[str, float]:
    """How good the sentences are that the explanation of a right answer names.

    precision: the share of them that are supports; recall: the share of supports among them;
    missed: the share of them without which alone the answer changes clearly; needed: whether it
    does without all of them; enough: whether it stays the same with them alone.
    """
    answer, basis = asked.answers[0], asked.basis
    named = {found.sentences[step].line for step in basis.sentences}
    supports = set(question.supports)
    alone = [_changes(answer, asked.leave_one_out[sentence]) for sentence in basis.sentences]
    return {
        "precision": len(named & supports) / (len(named) or 1),
        "recall": len(named & supports) / len(supports),
        "missed": sum(alone) / (len(alone) or 1),
        "needed": float(_changes(answer, basis.without)),
        "enough": float(basis.alone.word == answer.word),
    }


def _changes(answer: Answer, other: Answer) -> bool:
    """Whether an answer with fewer sentences is clearly another one."""
    return other.word != answer.word or other.probability <= (1 - CLEARLY) * answer.probability


@torch.no_grad()
def _decisive_words(
    reader: Reader, sentences: Sequence[str]
) -> dict[tuple[str, tuple[str, ...]], str]:
    """For each part of each step the word whose exchange turns it most, if one clearly does."""
    texts = texts_of_steps(reader, sentences)
    words = reader.words(texts)
    said = reader.memory_model.sentence_parts(words)
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
        for row, text in enumerate(texts):
            if most[row] >= WEAK:
                number = int(words[row, where[row]])
                found[name, tokenize(text)] = reader.vocabulary.words[number]
    return found


def _means(measured: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    keys = ("precision", "recall", "missed", "needed", "enough")
    return {key: sum(each[key] for each in measured) / len(measured) for key in keys if measured}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
