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
     "The box fits inside the chest (1); The chest fits inside the crate (2)"),
    (["Mary left.", "Mary left."], "Mary left (1) and left (2)"),
    (["."], ". (1)"),
    ([], ""),
]  # fmt: skip


@pytest.mark.parametrize(("sentences", "together"), SAID)
def test_neighbours_share_their_beginning(sentences, together) -> None:
    numbered = [(text, number) for number, text in enumerate(sentences, start=1)]
    assert said_together(numbered) == together


def test_what_is_said_together_is_in_the_order_of_the_story() -> None:
    told = [("Mary went to the office.", 10), ("Mary took the milk.", 7)]
    assert said_together(told) == "Mary took the milk (7) and went to the office (10)"
