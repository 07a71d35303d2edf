"""Grids of runs: skipped, resumed, recorded when they fail."""

import json

import pytest

from tpr_rnn.data.babi import Question, Story, format_story
from tpr_rnn.errors import UserError
from tpr_rnn.experiments.launcher import FAILURE, Job, launch
from tpr_rnn.training.recipe import preset
from tpr_rnn.training.run import RunConfig


@pytest.fixture
def data(tmp_path):
    stories = [
        Story((f"Mary went to the {place}.",), (Question("Where is Mary?", place, 1, (0,)),))
        for place in ("kitchen", "garden", "office") * 20
    ]
    directory = tmp_path / "data"
    directory.mkdir()
    for split in ("train", "valid", "test"):
        (directory / f"qa1_{split}.txt").write_text("".join(map(format_story, stories)))
    return directory


def job(data, directory, seed: int, task: str = "1") -> Job:
    settings = preset("single").with_settings({"epochs": "2"})
    config = RunConfig(task=task, seed=seed, preset="single", settings=settings, data=str(data))
    return Job(config.as_json(), directory / f"task-{task}-seed-{seed}")


def test_a_grid_is_run_and_not_run_again(data, tmp_path) -> None:
    jobs = [job(data, tmp_path, seed) for seed in (0, 1)] + [job(data, tmp_path, 0, task="7")]
    outcomes = {outcome.job.directory: outcome for outcome in launch(jobs, workers=2)}
    assert len(outcomes) == 3
    for good in jobs[:2]:
        assert outcomes[good.directory].result["seed"] == good.config["seed"]
    assert "task 7 has no train" in outcomes[jobs[2].directory].problem
    failure = json.loads((jobs[2].directory / FAILURE).read_text())
    assert failure["config"] == jobs[2].config

    before = (jobs[0].directory / "result.json").stat().st_mtime_ns
    again = list(launch(jobs[:1], workers=1))
    assert again[0].result == outcomes[jobs[0].directory].result
    assert (jobs[0].directory / "result.json").stat().st_mtime_ns == before


def test_a_directory_with_another_run_is_a_failure(data, tmp_path) -> None:
    first = job(data, tmp_path, 0)
    list(launch([first], workers=1))
    other = Job(job(data, tmp_path, 5).config, first.directory)
    (outcome,) = launch([other], workers=1)
    assert "a run with other settings" in outcome.problem


def test_workers_must_be_there() -> None:
    with pytest.raises(UserError, match="--workers"):
        list(launch([], workers=0))
