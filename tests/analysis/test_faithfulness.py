"""Explanations are measured against what supports right answers; so is their rule chosen."""

import pytest
from benchmarks.explanation_rule import RULES, compare_rules

from analysis.handmade import task_1_reader
from tpr_rnn.analysis.basis import Rule
from tpr_rnn.analysis.faithfulness import choose_questions, measure_faithfulness
from tpr_rnn.data.simulator import tell

STORIES = {"1": [tell("1", seed=seed) for seed in range(12)]}


def test_another_seed_chooses_other_questions() -> None:
    chosen = [choose_questions(STORIES["1"], 4, seed) for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert all(len(some) == 4 for some in chosen)
    assert len(choose_questions(STORIES["1"], 99, 0)) == 12


def test_a_model_that_uses_what_supports_its_answers_is_explained_by_that() -> None:
    sentences = [text for story in STORIES["1"] for text in story.sentences]
    found = measure_faithfulness(task_1_reader(), STORIES, sentences, seed=0)["explanations"]["1"]
    assert found["answers"] == 12
    assert found["recall"] == found["enough"] == 1
    assert found["precision"] > 0.9


def test_every_rule_is_tried_and_the_best_is_first() -> None:
    found = compare_rules(task_1_reader(), STORIES, questions=3, seed=0)
    assert found["right_answers"] == 3
    assert len(found["rules"]) == len(RULES)
    assert Rule() in RULES
    means = [row["harmonic_mean"] for row in found["rules"]]
    assert means == sorted(means, reverse=True)
    for row in found["rules"]:
        precision, recall = row["precision"], row["recall"]
        mean = 2 * precision * recall / (precision + recall)
        assert row["harmonic_mean"] == pytest.approx(mean, abs=1e-3)
