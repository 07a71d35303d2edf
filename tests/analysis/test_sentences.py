"""The small reader of bAbI's English takes every sentence and question apart."""

import pytest

from tpr_rnn.analysis.sentences import ASPECTS, aspects
from tpr_rnn.data import simulator


@pytest.mark.parametrize("task", simulator.TASK_TITLES)
def test_all_that_is_told_and_asked_is_understood(task) -> None:
    for seed in range(5):
        story = simulator.tell(task, seed=seed)
        for text in (*story.sentences, *(question.text for question in story.questions)):
            found = aspects(text)
            assert found.get("event"), text
            assert len(found) > 1, text
            assert set(found) <= set(ASPECTS)
            for aspect, words in found.items():
                assert aspect == "event" or words in text.lower()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mary went back to the kitchen.", {"event": "go", "actor": "mary", "place": "kitchen"}),
        ("Mary and John moved to the hallway.", {"actor": "mary and john", "place": "hallway"}),
        ("After that she went to the office.", {"actor": "she", "place": "office"}),
        ("This morning Bill went to the park.", {"actor": "bill", "time": "this morning"}),
        ("Bill went to the park yesterday.", {"event": "go", "actor": "bill", "time": "yesterday"}),
        ("John put down the milk there.", {"event": "drop", "actor": "john", "object": "milk"}),
        ("John picked up the milk.", {"event": "get", "object": "milk"}),
        (
            "Fred handed the apple to Jeff.",
            {"event": "give", "object": "apple", "receiver": "jeff"},
        ),
        ("Mary is no longer in the office.", {"event": "not be in", "place": "office"}),
        ("Fred is either in the park or the school.", {"place": "park or the school"}),
        ("The kitchen is north of the hall.", {"event": "north", "actor": "kitchen"}),
        ("The red square is below the triangle.", {"event": "below", "actor": "red square"}),
        ("The box of chocolates fits inside the chest.", {"actor": "box of chocolates"}),
        ("Mice are afraid of cats.", {"event": "fear", "actor": "mice", "object": "cats"}),
        ("Lily is a swan.", {"event": "be a kind", "object": "swan"}),
        ("Lily is gray.", {"event": "be so", "object": "gray"}),
        ("Where is the milk?", {"event": "where is", "object": "milk"}),
        ("Where is Mary?", {"event": "where is", "actor": "mary"}),
        ("Who gave the apple to Mary?", {"event": "who gave", "receiver": "mary"}),
        ("What is the kitchen south of?", {"event": "south of", "place": "kitchen"}),
    ],
)
def test_who_does_what_where(text, expected) -> None:
    assert expected.items() <= aspects(text).items()


def test_other_english_has_no_aspects() -> None:
    assert aspects("It rains.") == {}
    assert aspects("Why?") == {}
