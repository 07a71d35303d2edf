"""What a user may wish of a story, and the check that a task can grant it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tpr_rnn.data.simulator.words import COMMON
from tpr_rnn.errors import UserError


@dataclass(frozen=True, kw_only=True)
class StoryOptions:
    """How stories should differ from the official ones; None leaves a thing as it is there."""

    names: tuple[str, ...] | None = None
    """The actors. Where a task says 'he' or 'she' (task 11), a name that is not in the official
    stories must come with its pronoun: "Kim/she"."""

    objects: tuple[str, ...] | None = None
    """What the actors carry around (tasks 5 and 7 give away the first ones first), or the things
    compared in task 18."""

    places: tuple[str, ...] | None = None
    """Where the actors go, or the places on the map of tasks 4 and 19."""

    story_length: int | None = None
    """A story ends with the first question that comes after at least this many sentences."""

    distractors: int | None = None
    """How many sentences of a story lead nowhere, where a task has a set number of them."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words a task has for one kind of thing, and how many of them a story needs."""

    official: tuple[str, ...]
    least: int
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a task is played with; None or False where it has no such thing to choose."""

    names: Words | None = None
    objects: Words | None = None
    places: Words | None = None
    story_length: bool = False
    distractors: int | None = None
    pronouns: bool = False
    own_words: tuple[str, ...] = ()
    """Words that a task uses besides those that all stories do: nothing may be called so."""


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Who and what appears in a story: the options, resolved."""

    names: tuple[str, ...]
    pronouns: dict[str, str]
    objects: tuple[str, ...]
    places: tuple[str, ...]
    story_length: int | None
    distractors: int


# The pronouns of the official stories; the other official names are never spoken of by one.
_PRONOUNS = {"Mary": "she", "Sandra": "she", "John": "he", "Daniel": "he"}


def resolve(options: StoryOptions, needs: Needs, task: str) -> Cast:
    """Fill in what was not wished for; a wish that `task` cannot grant is a `UserError`."""
    names = options.names
    pronouns = dict(_PRONOUNS)
    if names is not None:
        pairs = [name.partition("/") for name in names]
        names = tuple(name for name, _, _ in pairs)
        pronouns.update((name, pronoun) for name, slash, pronoun in pairs if slash)
    cast = Cast(
        names=_words("names", names, needs.names, task),
        pronouns=pronouns,
        objects=_words("objects", options.objects, needs.objects, task),
        places=_words("places", options.places, needs.places, task),
        story_length=options.story_length,
        distractors=needs.distractors or 0 if options.distractors is None else options.distractors,
    )
    _check_pronouns(cast, needs.pronouns, task)
    _check_collisions(cast, (*COMMON, *needs.own_words))
    _check_number("story length", options.story_length, 1, needs.story_length, task)
    _check_number("distractors", options.distractors, 0, needs.distractors is not None, task)
    return cast


def _words(
    kind: str, wished: Sequence[str] | None, words: Words | None, task: str
) -> tuple[str, ...]:
    if wished is None:
        return words.official if words else ()
    if words is None:
        raise UserError(f"{task} has no {kind} to choose; leave that wish out")
    if len(wished) < words.least:
        raise UserError(
            f"{task} needs at least {words.least} {kind}, not {len(wished)}; "
            f"the official ones are {', '.join(words.official)}"
        )
    if words.most is not None and len(wished) > words.most:
        raise UserError(f"{task} takes at most {words.most} {kind}, not {len(wished)}")
    for word in wished:
        # Sentences are split into lower-case words, so a word must survive that as one.
        if not word.isalpha():
            raise UserError(f"{kind}: {word!r} is not a single word of letters, such as 'Mary'")
    return tuple(wished)


def _check_collisions(cast: Cast, own_words: tuple[str, ...]) -> None:
    kind_of = dict.fromkeys(own_words, "word of the stories themselves")
    for kind, words in (("name", cast.names), ("object", cast.objects), ("place", cast.places)):
        for word in words:
            # Models read lower case: 'Kitchen' and 'kitchen' are one word to them.
            other = kind_of.get(word.lower())
            if other == kind:
                raise UserError(f"the {kind} {word!r} is given twice; each may stand there once")
            if other is not None:
                raise UserError(f"{word!r} is both {_a(other)} and {_a(kind)}; choose another word")
            kind_of[word.lower()] = kind


def _check_pronouns(cast: Cast, needed: bool, task: str) -> None:
    for name in cast.names:
        pronoun = cast.pronouns.get(name)
        if pronoun not in (None, "he", "she"):
            raise UserError(
                f"names: the pronoun of {name!r} must be 'he' or 'she', not {pronoun!r}"
            )
        if needed and pronoun is None:
            raise UserError(
                f"{task} must know whether {name!r} is 'he' or 'she': "
                f"write '{name}/he' or '{name}/she'"
            )


def _check_number(kind: str, wished: int | None, least: int, possible: bool, task: str) -> None:
    if wished is None:
        return
    if not possible:
        raise UserError(f"{task} has no {kind} to choose; leave that wish out")
    if wished < least:
        raise UserError(f"{kind} must be {least} or more, not {wished}")


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
