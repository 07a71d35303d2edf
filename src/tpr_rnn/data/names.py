"""Names in stories: who is there, and one name in the place of another."""

import re
from collections.abc import Iterable, Mapping

from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import tokenize


def with_names(story: Story, names: Mapping[str, str]) -> Story:
    """The story with names replaced, in sentences, questions and answers alike."""
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b", re.IGNORECASE)

    def renamed(text: str) -> str:
        return pattern.sub(lambda match: _as_written(match[0], by_name[match[0].lower()]), text)

    by_name = {old.lower(): new for old, new in names.items()}
    return Story(
        tuple(map(renamed, story.sentences)),
        tuple(
            Question(renamed(asked.text), renamed(asked.answer), asked.after, asked.supports)
            for asked in story.questions
        ),
    )


def names_in(questions: Iterable[str]) -> set[str]:
    """Who is asked about, as words: whatever is written with a capital, though not at the start."""
    inner = (word for question in questions for word in question.split()[1:])
    return {tokenize(word)[0] for word in inner if word[0].isupper()}


def _as_written(old: str, new: str) -> str:
    """The new name in lower case where the old one was: answers are."""
    return new.lower() if old.islower() else new
