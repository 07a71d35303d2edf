"""Names follow the words that turn a vector, and are not invented."""

import pytest
import torch

from tpr_rnn.analysis.naming import (
    NAMELESS,
    Name,
    Occurrence,
    common_name,
    group_by_direction,
    group_things,
    name_vectors,
)


def occurrence(sentence: str, influence: dict[str, float], part: str = "e1") -> Occurrence:
    tokens = tuple(sentence.split())
    return Occurrence(part, tokens, tuple(influence.get(token, 0.0) for token in tokens))


def name_of(sentence: str, influence: dict[str, float]) -> Name:
    (name,) = name_vectors([occurrence(sentence, influence)], [0])
    return name


@pytest.mark.parametrize(
    ("influence", "expected"),
    [
        ({"mary": 0.5, "park": 0.1}, ("mary", 5 / 6)),
        ({"mary": 0.5, "park": 0.3}, ("mary park", 1)),
        ({"mary": 0.5, ".": 0.4}, ("mary", 5 / 9)),
        # Nothing stands out: less than half of the influence, or more than three words.
        ({"mary": 0.4, ".": 0.5}, ("", 0)),
        ({"mary": 0.4, "went": 0.4, "to": 0.4, "park": 0.4}, ("", 0)),
        # Words that hardly turn the vector do not name it.
        ({"mary": 0.09}, ("", 0)),
        ({}, ("", 0)),
    ],
)
def test_a_vector_alone_is_named_by_influence(influence, expected) -> None:
    name = name_of("mary went to the park .", influence)
    assert (name.text, name.confidence) == (expected[0], pytest.approx(expected[1]))


def test_a_word_that_stands_there_twice_is_said_once() -> None:
    assert name_of("the park is the park .", {"park": 0.3}).text == "park"


def weak_names(groups: list[int], john: float = 0.05) -> list[str]:
    occurrences = [
        occurrence("john went to the park .", {"john": john, "park": 0.04}),
        occurrence("john went to the school .", {"john": john, "school": 0.04}),
        occurrence("mary went to the park .", {"mary": 0.5}),
    ]
    return [name.text for name in name_vectors(occurrences, groups)]


def test_a_weak_name_is_that_which_tells_the_groups_apart() -> None:
    assert weak_names([0, 0, 1]) == ["john", "john", "mary"]
    # All in one group: then nothing tells what the weak ones stand for.
    assert weak_names([0, 0, 0]) == ["", "", "mary"]


def test_what_no_word_turns_has_no_name_even_if_something_tells_it_apart() -> None:
    occurrences = [
        occurrence("john went home .", {"john": 0.02}),
        occurrence("mary went home .", {"mary": 0.5}),
    ]
    assert [name.text for name in name_vectors(occurrences, [0, 1])] == ["", "mary"]


def test_only_the_same_part_of_other_sentences_is_compared() -> None:
    occurrences = [
        occurrence("john went home .", {"john": 0.05, "went": 0.04}),
        occurrence("john went home .", {"home": 0.5}, part="e2"),
    ]
    assert name_vectors(occurrences, [0, 1])[0] == NAMELESS


def named(*texts: str) -> list[Name]:
    return [Name(text, 0.8 if text else 0.0) for text in texts]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (named("mary", "mary"), "mary"),
        (named("left", "dropped", "dropped"), "dropped / left"),
        (named("john apple", "john", "john"), "john"),
        (named(*"aaaabcd"), "a / b / c / ..."),
        (named(*"aaaaaaaab"), "a"),
        (named("a", "", "a"), "a"),
        (named("a", "", ""), ""),
        (named(""), ""),
    ],
)
def test_the_name_of_a_group(names, expected) -> None:
    assert common_name(names).text == expected


def test_groups_are_directions_in_the_order_of_telling() -> None:
    angles = torch.deg2rad(torch.tensor([0.0, 90, 20, 180, 70, 10]))
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1) * torch.arange(1, 7).unsqueeze(1)
    assert group_by_direction(vectors) == [0, 1, 0, 2, 1, 0]
    assert group_by_direction(vectors[:0]) == []


def things(words: list[str], vectors: list[list[float]], influence: float = 0.1) -> list[int]:
    occurrences = [occurrence(f"{word} .", {word: influence}) for word in words]
    return group_things(torch.tensor(vectors), occurrences)


PLACE = [[1, 0.5, 0, 0], [1, 0, 0.5, 0], [1, 0.48, 0.02, 0]]  # cosines of 0.8 and of nearly 1


def test_things_of_a_kind_that_different_words_name_are_apart() -> None:
    assert group_by_direction(torch.tensor(PLACE)) == [0, 0, 0]
    assert things(["park", "school", "park"], PLACE) == [0, 1, 0]


def test_two_words_of_one_meaning_are_one_thing() -> None:
    alike = [[1, 0.1, 0, 0], [1, 0, 0.1, 0], [0, 0, 0, 1]]
    assert things(["went", "walked", "took"], alike) == [0, 0, 1]


def test_one_word_of_one_direction_is_one_thing_and_so_is_what_no_word_turns() -> None:
    assert things(["park", "park", "park"], PLACE) == [0, 0, 0]
    assert things(["park", "school", "park"], PLACE, influence=0.02) == [0, 0, 0]
    assert group_things(torch.zeros(0, 4), []) == []
