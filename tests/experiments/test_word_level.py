"""Which runs the word-level TPR-RNN's experiment has."""

from pathlib import Path

import pytest

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.catalogue import find_experiment
from tpr_rnn.experiments.grid import Job, Request


def jobs(**changes) -> list[Job]:
    request = Request(out=Path("out"), seeds=range(3), **changes)
    return find_experiment("word-level")(request)


def test_it_has_a_model_for_each_task_and_one_of_all() -> None:
    every = jobs()
    assert len(every) == 3 * 21
    assert {job.config.experiment for job in every} == {"word-level"}
    assert {job.config.settings.architecture for job in every} == {"word-level"}
    assert len({job.directory for job in every}) == len(every)
    of_all = [job.variant for job in every if job.config.task == "all"]
    assert of_all == ["word-all"] * 3
    assert {job.variant for job in every if job.config.task != "all"} == {"word-single"}


def test_of_some_tasks_there_is_no_model_of_all() -> None:
    assert [(job.config.task, job.config.seed) for job in jobs(tasks=("16",))] == [
        ("16", 0),
        ("16", 1),
        ("16", 2),
    ]


def test_the_presets_are_its_own() -> None:
    with pytest.raises(UserError, match="two presets, word-single and word-all"):
        jobs(preset="single")
