"""Grids of runs on processes: skipped, resumed, recorded when they fail."""

import json
import multiprocessing
import os
import signal

import pytest
from msgspec import structs

from experiments.tiny import jobs, write_data
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import read_lines
from tpr_rnn.experiments import finished
from tpr_rnn.experiments.last_step import gather_records, score_tests
from tpr_rnn.experiments.launcher import launch
from tpr_rnn.experiments.worker import (
    FAILURE,
    Began,
    Failed,
    Finished,
    Interrupted,
    Progressed,
)
from tpr_rnn.training.run_directory import RunDirectory


@pytest.fixture
def data(tmp_path):
    finished._checksum.cache_clear()
    return write_data(tmp_path / "data", 1, 4, 20)


def last_events(events) -> dict:
    return {event.job.directory: event for event in events}


def test_a_grid_is_run_and_not_run_again(data, tmp_path) -> None:
    (data / "qa4_train.txt").write_text("nonsense\n")
    grid = jobs(data, tmp_path / "out", 1, 4, seeds=2)
    ends = last_events(launch(grid, workers=2))
    for job in grid:
        end = ends[job.directory]
        if job.config.task == "1":
            assert isinstance(end, Finished)
            assert end.record.seed == job.config.seed
            assert end.record == RunDirectory(job.directory).record()
            assert end.record.test is None
        else:
            assert isinstance(end, Failed)
            assert "qa4_train.txt:1: a line starts with its number" in end.problem
            assert json.loads((job.directory / FAILURE).read_text()) == {
                "config": job.config.as_json(),
                "problem": end.problem,
            }

    write_data(data, 4)
    events = list(launch(grid, workers=2))
    assert [event.job for event in events if isinstance(event, Finished) and event.before] == [
        grid[0],
        grid[1],
    ]
    assert {event.job.config.task for event in events if isinstance(event, Began)} == {"4"}
    assert all(isinstance(event, Finished) for event in last_events(events).values())
    assert not list((tmp_path / "out").rglob(FAILURE))


def test_a_failure_that_cannot_be_recorded_costs_its_run_alone(data, tmp_path) -> None:
    write_data(data, 4)
    grid = jobs(data, tmp_path, 4, 1)
    grid[0].directory.parent.mkdir(parents=True)
    grid[0].directory.write_text("")  # a file in the place of the run
    blocked, other = (last_events(launch(grid, workers=1))[job.directory] for job in grid)
    assert isinstance(other, Finished)
    assert f"{grid[0].directory}: cannot be made" in blocked.problem
    assert "not recorded" in blocked.problem


def test_epochs_are_those_of_the_decay_too(data, tmp_path) -> None:
    events = list(launch(jobs(data, tmp_path, 1, decay_epochs="1"), workers=1))
    told = [event for event in events if isinstance(event, Progressed)]
    assert [event.epochs for event in told] == [2] * len(told)
    assert told[-1].epoch == 2
    assert told[-1].share == 1.0


def test_a_record_alone_counts_as_finished(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1)
    list(launch([job], workers=1))
    for path in job.directory.iterdir():
        if path.name != "result.json":
            path.unlink()
    (event,) = launch([job], workers=1)
    assert event.before

    (other,) = jobs(data, tmp_path, 1, learning_rate="0.005")
    with pytest.raises(
        UserError, match=r"seed-0: the run there has learning_rate .*, not 0.005; mov"
    ):
        list(launch([other], workers=1))
    (data / "qa1_valid.txt").write_text("1 Mary left.\n2 Where is Mary?\tgarden\n")
    finished._checksum.cache_clear()
    with pytest.raises(UserError, match="has seen other stories than there are in"):
        list(launch([job], workers=1))
    (job.directory / "result.json").write_text("{}")
    with pytest.raises(UserError, match=r"result\.json: not the record of a run"):
        list(launch([job], workers=1))


def test_a_directory_with_another_run_is_refused(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1, epochs="100000")
    list(launch([job], workers=1, stop=iter([False, False, True]).__next__))
    assert RunDirectory(job.directory).started
    (other,) = jobs(data, tmp_path, 1, epochs="3")
    with pytest.raises(UserError, match="the run there has epochs 100000, not 3"):
        list(launch([other], workers=1))


def test_a_stopped_grid_goes_on_to_the_same_end(data, tmp_path) -> None:
    whole, broken = (jobs(data, tmp_path / name, 1, epochs="100")[0] for name in "ab")
    list(launch([whole], workers=1))
    progress = []
    *_, last = launch_and_note(broken, progress)
    assert last == Interrupted(broken)
    assert progress
    *_, last = launch([broken], workers=1)
    assert isinstance(last, Finished)
    one, other = (RunDirectory(job.directory).record() for job in (whole, broken))
    assert structs.replace(one, seconds=other.seconds, cpu_seconds=other.cpu_seconds) == other


def launch_and_note(job, progress):
    """Stop as soon as there is news of the run."""
    for event in launch([job], workers=1, stop=lambda: bool(progress)):
        if isinstance(event, Progressed):
            progress.append(event)
        yield event


def test_a_process_that_dies_costs_its_run_alone(data, tmp_path) -> None:
    grid = [*jobs(data, tmp_path, 4, epochs="100000"), *jobs(data, tmp_path, 1)]
    ends = {}
    for event in launch(grid, workers=1):
        ends[event.job.directory] = event
        if isinstance(event, Progressed) and event.job.config.task == "4":
            (child,) = multiprocessing.active_children()
            os.kill(child.pid, signal.SIGKILL)
    killed, after = (ends[job.directory] for job in grid)
    assert "the process of the run died (exit code -9)" in killed.problem
    assert (grid[0].directory / FAILURE).exists()
    assert isinstance(after, Finished)


def test_the_longest_come_first(data, tmp_path) -> None:
    for path in data.iterdir():
        path.write_text("nonsense\n")
    write_data(data, 3)
    (data / "qa3_train.txt").write_text("nonsense\n")
    grid = jobs(data, tmp_path, 1, 20, 3, seeds=2)
    begun = [event.job for event in launch(grid, workers=1) if isinstance(event, Began)]
    order = [(job.config.task, job.config.seed) for job in begun]
    assert order == [("3", 0), ("3", 1), ("20", 0), ("20", 1), ("1", 0), ("1", 1)]


def test_a_run_that_somebody_else_works_on_is_left_alone(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1)
    job.directory.mkdir(parents=True)
    with RunDirectory(job.directory).locked():
        *_, last = launch([job], workers=1)
    assert "another process is working on this run" in last.problem
    assert not (job.directory / FAILURE).exists()


def test_workers_must_be_there() -> None:
    with pytest.raises(UserError, match="--workers"):
        list(launch([], workers=0))


def test_test_questions_are_scored_when_all_runs_are_finished(data, tmp_path) -> None:
    grid = jobs(data, tmp_path, 1, 4)
    list(launch(grid, workers=1))
    stopped = list(score_tests(grid, "a sweep", stop=iter([False, True]).__next__))
    assert [event.job for event in stopped] == grid[:1]
    when = stopped[0].record.test.when
    ends = list(score_tests(grid, "another sweep"))
    assert [event.record.test.command for event in ends] == ["a sweep", "another sweep"]
    assert ends[0].record.test.when == when
    gather_records(grid, tmp_path / "records.jsonl")
    gathered = read_lines(tmp_path / "records.jsonl")
    assert [structs.replace(record, curve=[]) for record in gathered] == [
        RunDirectory(job.directory).record() for job in grid
    ]
    assert all(len(record.curve) == 2 for record in gathered)
