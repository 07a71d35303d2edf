"""Questions that fit a story: those of simulated stories, asked about the nouns of this one."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest

from tpr_rnn.data.simulator import TASK_TITLES, tell
from tpr_rnn.data.simulator.wide.words import UNKNOWN
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import PADDING, answer_word, tokenize
from tpr_rnn.models.new_words import Kind, kind_of
from tpr_rnn.models.reader import Reader

STORIES = 60
"""Stories of each task to collect questions from: enough to find nearly all of them."""

SURE = 0.9
"""A question is suggested if its answer is so likely."""

LONGER = 2
"""A story is like those of a task if it has at most so many times their sentences."""

TRIED = 30
"""So many questions about a story are put to the model at most."""


@dataclass
class Form:
    """Questions that differ in their nouns alone: what sentences have supported them."""

    supports: set[tuple[str, ...]] = field(default_factory=set)
    """With the nouns of the question as their numbers, and other nouns as their kinds."""
    together: bool = True
    """Whether one sentence has always had all nouns of the question."""


@dataclass
class TaskWords:
    """What the stories of a task are made of."""

    sentences: set[str] = field(default_factory=set)
    """The words of its sentences."""
    longest: int = 0
    """Sentences before a question."""
    questions: dict[str, set[str]] = field(default_factory=dict)
    """Its questions with their words."""
    answers: dict[str, set[str]] = field(default_factory=dict)
    """The answers to questions that begin with a word: "where", "who", "is"."""
    forms: dict[tuple[str, ...], Form] = field(default_factory=dict)

    def add(self, story: Story) -> None:
        """Learn from a story."""
        told = [tokenize(text) for text in story.sentences]
        self.sentences.update(*told)
        for question in story.questions:
            asked = tokenize(question.text)
            self.longest = max(self.longest, question.after)
            self.questions[question.text] = set(asked)
            self.answers.setdefault(asked[0], set()).add(answer_word(question.answer))
            nouns = _nouns(asked)
            supports = {_form(told[place], nouns) for place in question.supports}
            form = self.forms.setdefault(_form(asked, ()), Form())
            form.supports |= supports
            form.together &= any(_numbers(nouns) <= set(support) for support in supports)

    @cached_property
    def question_words(self) -> set[str]:
        """The words of all questions."""
        return set().union(*self.questions.values())

    def supported(self, question: str, story: Sequence[Sequence[str]]) -> bool:
        """Whether each noun of a question stands in a sentence that may support one like it."""
        asked = tokenize(question)
        nouns = _nouns(asked)
        form = self.forms[_form(asked, ())]
        numbers = _numbers(nouns)
        seen = [
            numbers & set(support)
            for support in (_form(told, nouns) for told in story)
            if support in form.supports
        ]
        return numbers <= set().union(*seen) and (not form.together or numbers in seen)


class FittingQuestions:
    """Questions that fit a story, for a model that knows only some words."""

    def __init__(self, reader: Reader) -> None:
        """Keep the model; stories are generated when first needed."""
        self._reader = reader

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks whose every word the model knows."""
        return tuple(self._by_task)

    def about(self, story: Sequence[str], kinds: Mapping[str, str], count: int) -> list[str]:
        """Questions about a story that the model can answer, at most `count`, simple tasks first.

        It can if its answer is likely, and a word that answers this kind of question.
        """
        reader = self._reader.for_words(story, kinds)
        if not story or reader.vocabulary.unknown(
            word for sentence in story for word in tokenize(sentence)
        ):
            return []
        found: list[str] = []
        for question in _mixed(self._candidates(story, reader))[:TRIED]:
            best = reader.answer(story, question, top=1)[0]
            expected = self.answers(question, reader)
            if best.probability >= SURE and best.word != UNKNOWN and best.word in (expected or ()):
                found.append(question)
            if len(found) == count:
                break
        return found

    def answers(self, question: str, reader: Reader) -> tuple[str, ...] | None:
        """The words that answer questions of this kind; None if no task asks like this.

        A question is of a task's kind if it begins like one of its questions, and has no words but
        theirs and nouns. Where nouns answer it, every noun of their kind may.
        """
        asked = tokenize(question)
        known: set[str] = set()
        for task in self._by_task.values():
            others = {word for word in asked if _kind(word, reader) is None}
            if asked and asked[0] in task.answers and others <= task.question_words:
                known |= task.answers[asked[0]]
        if not known:
            return None
        nouns = {kind_of(word) for word in known} - {None}
        words = (word for word in reader.vocabulary.words if word != PADDING)
        return tuple(
            word
            for word in words
            if word in known or word == UNKNOWN or _kind(word, reader) in nouns
        )

    def _candidates(self, story: Sequence[str], reader: Reader) -> Iterator[str]:
        """The questions of tasks with stories like this one, about what this one mentions.

        Nouns that the task does not have take the place of nouns that it has.
        """
        said = {word: text for text in story for word, text in _spelt(text)}
        for task in self._by_task.values():
            stands_for = _stand_ins(said, task.sentences, reader)
            if stands_for is None or len(story) > LONGER * task.longest:
                continue
            names = {new: old for old, new in stands_for.items()}
            told = [[names.get(word, word) for word in tokenize(text)] for text in story]
            here = {word for words in told for word in words}
            for text, asked in task.questions.items():
                if asked & task.sentences <= here and task.supported(text, told):
                    spelt = {word: said[word] for word in asked & said.keys()}
                    spelt |= {old: said[new] for old, new in stands_for.items()}
                    yield _with_words(
                        text, {word: other for word, other in spelt.items() if kind_of(word)}
                    )

    @cached_property
    def _by_task(self) -> dict[str, TaskWords]:
        by_task = {}
        for task in TASK_TITLES:
            words = TaskWords()
            for seed in range(STORIES):
                words.add(tell(task, seed=seed))
                everything = words.sentences.union(
                    *words.questions.values(), *words.answers.values()
                )
                if self._reader.vocabulary.unknown(everything):
                    break
            else:
                words.questions = dict(sorted(words.questions.items()))
                by_task[task] = words
        return by_task


def _nouns(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if kind_of(word))


def _numbers(nouns: Sequence[str]) -> set[str]:
    return set(map(str, range(len(nouns))))


def _form(words: Sequence[str], nouns: Sequence[str]) -> tuple[str, ...]:
    """A text with some nouns as their numbers, and others as their kinds."""
    return tuple(
        str(nouns.index(word)) if word in nouns else kind_of(word) or word for word in words
    )


def _kind(word: str, reader: Reader) -> Kind | None:
    """Of a noun, known or new."""
    new = {each.word: each.kind for each in reader.new_words}
    return new.get(word) or kind_of(word)


def _mixed(questions: Iterable[str]) -> list[str]:
    """The questions in turns: first one of each form, in the order in which forms come."""
    forms: dict[tuple[str, ...], list[str]] = {}
    for question in dict.fromkeys(questions):
        forms.setdefault(_form(tokenize(question), ()), []).append(question)
    return [question for turn in zip_longest(*forms.values()) for question in turn if question]


def _spelt(text: str) -> Iterator[tuple[str, str]]:
    """The words of a text as the model reads them, each as it is written."""
    for word in tokenize(text):
        written = re.search(re.escape(word), text, re.IGNORECASE)
        yield word, written.group() if written else word


def _stand_ins(said: Mapping[str, str], known: set[str], reader: Reader) -> dict[str, str] | None:
    """For each noun of a story that a task lacks one of its own nouns, which the story lacks.

    None if there is not one for each, or if a word that the task lacks is no noun.
    """
    free = sorted(known - said.keys())
    stands_for: dict[str, str] = {}
    for word in said:
        if word in known:
            continue
        kind = _kind(word, reader)
        other = next((each for each in free if kind and kind_of(each) == kind), None)
        if other is None:
            return None
        free.remove(other)
        stands_for[other] = word
    return stands_for


def _with_words(text: str, words: Mapping[str, str]) -> str:
    """A question with other words in place of some, all at once."""
    if not words:
        return text
    either = "|".join(map(re.escape, words))
    return re.sub(rf"\b({either})\b", lambda found: words[found[1].lower()], text, flags=re.I)
