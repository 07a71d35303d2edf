"""Errors that the user can correct, and how their messages show what was given."""

import re


class UserError(Exception):
    """The user's input is wrong; the message says where, and what would be right.

    The command line prints the message alone, without a traceback, and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        """Keep a message; words too long for a person to read are shortened."""
        super().__init__(shorten_words(message))


def shorten(text: str, length: int = 60) -> str:
    """The start of a text that is longer than `length` characters."""
    return text if len(text) <= length else text[: length - 3] + "..."


def quoted(text: str) -> str:
    """A text of the user's in quotes, for a message: short, without control characters."""
    return repr(shorten(text))


def shorten_words(message: str) -> str:
    """A message without words of thousands of characters; a path of usual length stays whole."""
    return re.sub(r"\S{500,}", lambda word: shorten(word[0], 100), message)


def missing_extra(what: str, library: str, extra: str) -> UserError:
    """The error for a library that comes with an extra of this package, which is not installed."""
    return UserError(
        f"{what} needs {library}; install it with: pip install -e '.[{extra}]', "
        "in a clone of the tpr-rnn repository"
    )
