"""Stories as rows of indices into a table of different sentences.

A batch of 128 stories holds some 1,300 sentences, but a task only 28 to 960 different ones.
Whoever encodes each different sentence once saves nearly all of that work.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from tpr_rnn.data.names import names_in
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import Vocabulary, answer_word, tokenize
from tpr_rnn.errors import UserError, quoted

UNKNOWN_ANSWER = -1
"""The number of an answer that is not in the vocabulary: no model of it can ever be right."""


@dataclass(frozen=True)
class Encoded:
    """Questions about stories, as numbers.

    The sentences of all stories lie end to end in `told`; question n is asked after
    `told[start[n] : start[n] + length[n]]`, so that questions of one story share its sentences.
    """

    sentences: Int[np.ndarray, "u w"]
    """The different sentences, as words; row 0 is blank and stands for 'no sentence'."""
    questions: Int[np.ndarray, "a w"]
    """The different questions, as words."""
    told: Int[np.ndarray, " s"]
    start: Int[np.ndarray, " n"]
    length: Int[np.ndarray, " n"]
    question: Int[np.ndarray, " n"]
    answer: Int[np.ndarray, " n"]
    task: Int[np.ndarray, " n"]
    """Positions in `task_names`."""
    task_names: tuple[str, ...]
    names: Int[np.ndarray, " k"]
    """The words that are names of people asked about."""
    kept: tuple[frozenset[str], ...]
    """Which kinds of interchangeable words stay (`Interchangeable.kept`), each choice once."""
    sentence_kept: Int[np.ndarray, " u"]
    """For each sentence its place in `kept`: one that is told under two choices stands twice."""
    question_kept: Int[np.ndarray, " a"]
    task_kept: Int[np.ndarray, " _"]

    def __len__(self) -> int:
        return len(self.answer)


def build_vocabulary(stories: Iterable[Story]) -> Vocabulary:
    """All words of sentences, questions and answers."""
    texts: set[str] = set()
    answers: set[str] = set()
    for story in stories:
        texts.update(story.sentences)
        for question in story.questions:
            texts.add(question.text)
            answers.add(question.answer)
    words = {word for text in texts for word in tokenize(text)}
    return Vocabulary(words | {answer_word(answer) for answer in answers})


def longest_sentence(stories: Iterable[Story]) -> int:
    """Words in the longest sentence or question."""
    texts: set[str] = set()
    for story in stories:
        texts.update(story.sentences)
        texts.update(question.text for question in story.questions)
    return max((len(tokenize(text)) for text in texts), default=0)


def encode(
    stories_of: Mapping[str, Sequence[Story]],
    vocabulary: Vocabulary,
    words: int,
    max_sentences: Mapping[str, int] | None = None,
    kept: Mapping[str, Collection[str]] | None = None,
) -> Encoded:
    """Encode the stories of each task.

    Args:
        stories_of: the stories, by task.
        vocabulary: an unknown word in a sentence or question is an error that names it.
        words: the words that the longest sentence may have (w).
        max_sentences: by task, how many sentences before a question are kept, the last ones; of
            a task that is not there, all of them (`DataSet.max_sentences`).
        kept: by task, the kinds of words that stay where others change places
            (`Interchangeable.kept`).
    """
    choices: dict[frozenset[str], int] = {frozenset(): 0}
    task_kept = [
        choices.setdefault(frozenset((kept or {}).get(task, ())), len(choices))
        for task in stories_of
    ]
    sentence_row: dict[tuple[str, int], int] = {("", 0): 0}
    question_row: dict[tuple[str, int], int] = {}
    answer_number: dict[str, int] = {}
    told: list[int] = []
    asked: list[tuple[int, int, int, int, int]] = []
    for number, (task, stories) in enumerate(stories_of.items()):
        limit = (max_sentences or {}).get(task)
        for story in stories:
            begin = len(told)
            for sentence in story.sentences:
                key = sentence, task_kept[number]
                told.append(sentence_row.setdefault(key, len(sentence_row)))
            for question in story.questions:
                length = question.after if limit is None else min(question.after, limit)
                if question.answer not in answer_number:
                    word = answer_word(question.answer)
                    known = word in vocabulary
                    answer_number[question.answer] = (
                        vocabulary.number(word) if known else UNKNOWN_ANSWER
                    )
                asked.append(
                    (
                        begin + question.after - length,
                        length,
                        question_row.setdefault(
                            (question.text, task_kept[number]), len(question_row)
                        ),
                        answer_number[question.answer],
                        number,
                    )
                )
    columns = np.array(asked, dtype=np.int64).reshape(-1, 5).T.copy()
    return Encoded(
        sentences=word_table([text for text, _ in sentence_row], vocabulary, words),
        questions=word_table([text for text, _ in question_row], vocabulary, words),
        told=np.array(told, dtype=np.int64),
        **dict(zip(("start", "length", "question", "answer", "task"), columns, strict=True)),
        task_names=tuple(stories_of),
        names=np.array(
            sorted(vocabulary.number(name) for name in names_in(text for text, _ in question_row)),
            dtype=np.int64,
        ),
        kept=tuple(choices),
        sentence_kept=np.array([choice for _, choice in sentence_row], dtype=np.int64),
        question_kept=np.array([choice for _, choice in question_row], dtype=np.int64),
        task_kept=np.array(task_kept, dtype=np.int64),
    )


def word_table(texts: Iterable[str], vocabulary: Vocabulary, words: int) -> Int[np.ndarray, "u w"]:
    """Texts as rows of word numbers, padded to the longest that the model reads."""
    tokenized = [tokenize(text) for text in texts]
    table = np.zeros((len(tokenized), words), dtype=np.int64)
    for row, tokens in enumerate(tokenized):
        if len(tokens) > words:
            raise UserError(
                f"{quoted(' '.join(tokens))} has {len(tokens)} words (punctuation counts); "
                f"the model reads at most {words} in a sentence"
            )
        table[row, : len(tokens)] = [vocabulary.number(token) for token in tokens]
    return table
