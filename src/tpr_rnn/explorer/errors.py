"""What is wrong with a request, in words for a person who writes a story."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tpr_rnn.errors import UserError
from tpr_rnn.explorer import limits
from tpr_rnn.explorer.messages import KnownStory
from tpr_rnn.memory import SPECS


def not_as_described(error: Mapping[str, Any]) -> str:
    """What pydantic found: in plain words what can happen on the page, the rest for programs."""
    given = error["input"]
    match error["type"], error["loc"]:
        case "too_long", ("body", "story"):
            return _too_much("the story", len(given), "sentences", limits.SENTENCES)
        case "string_too_long", ("body", *place):
            most = error["ctx"]["max_length"]
            return _too_much(_called(*place), len(given), "characters", most)
        case "string_too_short", ("body", *place):
            return f"{_called(*place)} is empty; expected some words"
        case "model_attributes_type", ("body",):
            return "expected a JSON object, and the header content-type: application/json"
        case "too_short", ("body", "operations"):
            return f"no operation is left; expected one or more of {', '.join(SPECS)}"
        case _, place:
            return f"{'.'.join(map(str, place))}: {error['msg']}"


def check_sizes(stories: Sequence[KnownStory]) -> None:
    """Refuse stories of a pasted text that would be refused as a request."""
    if len(stories) > limits.STORIES:
        raise UserError(_too_much("the text", len(stories), "stories", limits.STORIES))
    for number, story in enumerate(stories, start=1):
        for complaint in _complaints(story):
            raise UserError(complaint if len(stories) == 1 else f"story {number}: {complaint}")


def _complaints(story: KnownStory) -> Iterator[str]:
    sentences = len(story.sentences)
    if sentences > limits.SENTENCES:
        yield _too_much("the story", sentences, "sentences", limits.SENTENCES)
    texts = [(_called("story", place), text) for place, text in enumerate(story.sentences)]
    texts += [(_called("question"), question.text) for question in story.questions]
    for called, text in texts:
        if len(text) > limits.CHARACTERS:
            yield _too_much(called, len(text), "characters", limits.CHARACTERS)


def _called(field: str, *place: int) -> str:
    """The name of a part of a request: the question, sentence 3."""
    return f"sentence {place[0] + 1}" if place else f"the {field}"


def _too_much(what: str, count: int, things: str, most: int) -> str:
    return f"{what} has {count:,} {things}; at most {most:,} are allowed"
