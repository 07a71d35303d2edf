"""The sentences that an answer rests on are enough for it and missed without."""

import pytest
import torch

from analysis.handmade import GAIN, handmade_reader
from tpr_rnn.analysis.basis import told_shares
from tpr_rnn.analysis.steps import follow
from tpr_rnn.analysis.trace import trace

STORY = [
    "Mary went to the kitchen.",
    "John went to the garden.",
    "Mary went to the office.",
    "John went to the kitchen.",
]


def basis_of(story, question="Where is Mary?", **settings):
    return trace(handmade_reader(), story, question, **settings).question.basis


def test_only_the_sentence_that_tells_it_is_named() -> None:
    basis = basis_of(STORY)
    assert basis.sentences == (2,)
    assert basis.alone.word == "office"
    assert basis.without.word == "kitchen"
    assert basis.unused == ()


def test_a_sentence_told_twice_is_not_needed_twice() -> None:
    basis = basis_of(["Mary went to the office.", *STORY])
    assert basis.sentences == (3,)
    twice = basis_of([STORY[2], STORY[2]])
    assert len(twice.sentences) == 1
    assert twice.unused == twice.sentences
    assert twice.without.word == "office"


def test_a_support_that_the_answer_does_without_is_unused() -> None:
    assert basis_of(STORY, supports=[2, 1]).unused == (1,)
    assert basis_of(STORY, supports=[2]).unused == ()


def test_what_the_question_names_is_told_of_or_said_to_be_unused() -> None:
    walk = follow(handmade_reader(), STORY, "Mary is the garden kitchen?").walk
    assert walk.telling == ((0, 2), (1,), (0, 3))
    found = basis_of(STORY, "Where is Mary the garden?")
    assert found.sentences == (2,)
    assert found.unused == (1,)  # the only one that tells of the garden


def test_supports_before_what_is_read_count_for_nothing() -> None:
    reader = handmade_reader()
    short = type(reader)(reader.model, reader.vocabulary, max_sentences=2)
    found = trace(short, STORY, "Where is Mary?", supports=[0, 1])
    assert found.question.basis.sentences == (0,)
    assert found.question.basis.unused == ()


def test_an_empty_story_has_nothing_to_rest_on() -> None:
    basis = basis_of([])
    assert basis.sentences == basis.unused == ()
    assert basis.alone == basis.without


@torch.no_grad()
def test_fewer_sentences_are_read_as_a_story_of_them_alone() -> None:
    reader = handmade_reader()
    walk = follow(reader, STORY, "Where is Mary?").walk
    for kept in ([0, 1], [3], [], [0, 1, 2, 3]):
        shorter = follow(reader, [STORY[t] for t in kept], "Where is Mary?").walk
        expected = reader.model.logits(shorter.found)
        torch.testing.assert_close(walk.with_only([kept]), expected)


def test_shares_that_cancel_stay_within_one() -> None:
    reader = handmade_reader()
    where = reader.vocabulary.number("where")
    with torch.no_grad():  # asks from mary without most of mary
        reader.model.inference.relation_weight[0, where, 1] = -GAIN
    for step in trace(reader, STORY, "Where is Mary?").question.steps:
        shares = told_shares(step, len(STORY))
        assert sum(map(abs, shares)) == pytest.approx(1) or not any(shares)
