"""Questions that fit a story: those of simulated stories with the same words."""

from collections.abc import Sequence
from functools import cached_property

from tpr_rnn.data.simulator import TASK_TITLES, tell
from tpr_rnn.data.vocabulary import Vocabulary, answer_word, tokenize

STORIES = 60
"""Stories of each task to collect questions from: enough to find nearly all of them."""


class FittingQuestions:
    """Questions that fit a story, for a model that knows only some words."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Keep the words that the model knows; stories are generated when first needed."""
        self._vocabulary = vocabulary

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks whose every word the model knows."""
        return tuple(self._by_task)

    def about(self, story: Sequence[str], count: int) -> list[str]:
        """Questions about a story, at most `count`, simple tasks first.

        A task's questions fit if the story uses only words of that task's stories. One of them
        fits if all words that it shares with such stories (its Mary, its kitchen) are in this one.
        """
        words = {word for sentence in story for word in tokenize(sentence)}
        fitting: dict[str, None] = {}
        if words:
            for sentence_words, questions in self._by_task.values():
                if words <= sentence_words:
                    fitting |= {
                        text: None
                        for text, asked in questions.items()
                        if asked & sentence_words <= words
                    }
        return list(fitting)[:count]

    @cached_property
    def _by_task(self) -> dict[str, tuple[set[str], dict[str, set[str]]]]:
        """For each task the words of its sentences, and its questions with their words."""
        by_task = {}
        for task in TASK_TITLES:
            sentences: set[str] = set()
            questions: dict[str, set[str]] = {}
            for seed in range(STORIES):
                story = tell(task, seed=seed)
                sentences |= {word for text in story.sentences for word in tokenize(text)}
                asked = {
                    question.text: set(tokenize(question.text)) for question in story.questions
                }
                answers = [answer_word(question.answer) for question in story.questions]
                if self._vocabulary.unknown(sentences.union(answers, *asked.values())):
                    break
                questions |= asked
            else:
                by_task[task] = (sentences, dict(sorted(questions.items())))
        return by_task
