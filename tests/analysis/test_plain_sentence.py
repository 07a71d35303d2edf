"""Sentences of a story said together lose nothing of what each says."""

import pytest

from tpr_rnn.analysis.plain_sentence import said_together

SAID = [
    (["Greg is a swan.", "Bernhard is a swan.", "Bernhard is green."],
     "Greg is a swan (1); Bernhard is a swan (2) and green (3)"),
    (["Mary went to the kitchen.", "Mary went to the garden.", "Mary took the milk."],
     "Mary went to the kitchen (1), went to the garden (2) and took the milk (3)"),
    (["Mary went to the kitchen.", "Mary went to the garden."],
     "Mary went to the kitchen (1) and the garden (2)"),
    (["Mary and John left.", "Mary took the milk."],
     "Mary and John left (1); Mary took the milk (2)"),
    (["Mary is not in the park .", "Mary is in the office ."],
     "Mary is not in the park (1); Mary is in the office (2)"),
    (["The box fits inside the chest.", "The chest fits inside the crate."],
     "The box fits inside the chest (1); the chest fits inside the crate (2)"),
    (["This evening Bill left.", "This morning Bill left."],
     "This evening Bill left (1); this morning Bill left (2)"),
    (["Winona is a wolf.", "Wolves are afraid of mice."],
     "Winona is a wolf (1); wolves are afraid of mice (2)"),
    (["John went home.", "After that Mary left.", "Mary took the milk."],
     "John went home (1); after that Mary left (2); Mary took the milk (3)"),
    (["Mary left.", "Mary left."], "Mary left (1) and left (2)"),
    (["."], ". (1)"),
    ([], ""),
]  # fmt: skip


@pytest.mark.parametrize(("sentences", "together"), SAID)
def test_neighbours_share_their_beginning(sentences, together) -> None:
    numbered = [(text, number) for number, text in enumerate(sentences, start=1)]
    assert said_together(numbered) == together


def test_what_happened_is_told_in_the_order_of_the_story() -> None:
    told = [("Mary went to the office.", 10), ("John left.", 8), ("Mary took the milk.", 7)]
    assert said_together(told) == (
        "Mary took the milk (7); John left (8); Mary went to the office (10)"
    )
    told = [("Then she left the kitchen.", 2), ("Mary is in the kitchen.", 1)]
    assert said_together(told) == "Mary is in the kitchen (1); then she left the kitchen (2)"


def test_what_is_told_of_one_is_said_together_unless_something_happened_between() -> None:
    told = [("Brian is a swan.", 2), ("Greg is a swan.", 9), ("Brian is white.", 8)]
    assert said_together(told) == "Brian is a swan (2) and white (8); Greg is a swan (9)"
    told = [("Mary took the milk.", 1), ("John went home.", 2), ("Mary took the hat.", 3)]
    assert said_together(told) == (
        "Mary took the milk (1); John went home (2); Mary took the hat (3)"
    )


def test_what_is_so_is_told_in_the_order_in_which_it_is_found() -> None:
    told = [("Lily is a lion.", 8), ("Julius is green.", 4), ("Julius is a lion.", 2)]
    assert said_together(told) == "Lily is a lion (8); Julius is a lion (2) and green (4)"
