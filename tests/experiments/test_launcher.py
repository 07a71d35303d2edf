"""Grids of runs on processes: skipped, resumed, recorded when they fail."""

import json
import multiprocessing
import os
import shutil
import signal

import pytest
from msgspec import structs

from experiments.tiny import jobs, write_data
from tpr_rnn.cli import main
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import read_lines
from tpr_rnn.experiments import finished
from tpr_rnn.experiments.last_step import gather_records, keep_record, score_tests
from tpr_rnn.experiments.launcher import launch
from tpr_rnn.experiments.local import LocalProcesses
from tpr_rnn.experiments.plan import write_plan
from tpr_rnn.experiments.worker import (
    Began,
    Failed,
    Finished,
    Interrupted,
    Progressed,
    Warned,
)
from tpr_rnn.training.run_config import ConfigFile, RunConfig
from tpr_rnn.training.run_directory import FAILURE, RunDirectory


@pytest.fixture
def data(tmp_path):
    finished._checksum.cache_clear()
    return write_data(tmp_path / "data", 1, 4, 20)


def last_events(events) -> dict:
    return {event.job.directory: event for event in events}


def test_a_grid_is_run_and_not_run_again(data, tmp_path) -> None:
    (data / "qa4_train.txt").write_text("nonsense\n")
    grid = jobs(data, tmp_path / "out", 1, 4, seeds=2)
    ends = last_events(launch(grid, LocalProcesses(2)))
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
    events = list(launch(grid, LocalProcesses(2)))
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
    blocked, other = (last_events(launch(grid, LocalProcesses(1)))[job.directory] for job in grid)
    assert isinstance(other, Finished)
    assert f"{grid[0].directory}: cannot be made" in blocked.problem
    assert "not recorded" in blocked.problem


def test_epochs_are_those_of_the_decay_too(data, tmp_path) -> None:
    events = list(launch(jobs(data, tmp_path, 1, decay_epochs="1"), LocalProcesses(1)))
    told = [event for event in events if isinstance(event, Progressed)]
    assert [event.epochs for event in told] == [2] * len(told)
    assert told[-1].epoch == 2
    assert told[-1].share == 1.0


def test_a_record_alone_counts_as_finished(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1)
    list(launch([job], LocalProcesses(1)))
    for path in job.directory.iterdir():
        if path.name != "result.json":
            path.unlink()
    (event,) = launch([job], LocalProcesses(1))
    assert event.before

    (other,) = jobs(data, tmp_path, 1, learning_rate="0.005")
    with pytest.raises(
        UserError, match=r"seed-0: the run there has learning_rate .*, not 0.005; mov"
    ):
        list(launch([other], LocalProcesses(1)))
    (data / "qa1_valid.txt").write_text("1 Mary left.\n2 Where is Mary?\tgarden\n")
    finished._checksum.cache_clear()
    with pytest.raises(UserError, match="has seen other stories than there are in"):
        list(launch([job], LocalProcesses(1)))
    (job.directory / "result.json").write_text("{}")
    with pytest.raises(UserError, match=r"result\.json: not the record of a run"):
        list(launch([job], LocalProcesses(1)))


def test_a_directory_with_another_run_is_refused(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1, epochs="100000")
    list(launch([job], LocalProcesses(1), stop=iter([False, False, True]).__next__))
    assert RunDirectory(job.directory).started
    (other,) = jobs(data, tmp_path, 1, epochs="3")
    with pytest.raises(UserError, match="the run there has epochs 100000, not 3"):
        list(launch([other], LocalProcesses(1)))


def test_a_stopped_grid_goes_on_to_the_same_end(data, tmp_path) -> None:
    whole, broken = (jobs(data, tmp_path / name, 1, epochs="100")[0] for name in "ab")
    list(launch([whole], LocalProcesses(1)))
    progress = []
    *_, last = launch_and_note(broken, progress)
    assert last == Interrupted(broken)
    assert progress
    *_, last = launch([broken], LocalProcesses(1))
    assert isinstance(last, Finished)
    one, other = (RunDirectory(job.directory).record() for job in (whole, broken))
    assert structs.replace(one, seconds=other.seconds, cpu_seconds=other.cpu_seconds) == other


def launch_and_note(job, progress, count=1):
    """Stop as soon as there is so much news of the run."""
    for event in launch([job], LocalProcesses(1), stop=lambda: len(progress) >= count):
        if isinstance(event, Progressed):
            progress.append(event)
        yield event


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_process_that_dies_is_tried_once_more_and_costs_its_run_alone(
    data, tmp_path, deaths
) -> None:
    grid = [*jobs(data, tmp_path, 4, epochs="150"), *jobs(data, tmp_path, 1)]
    ends, warned, begun, kills = {}, [], 0, 0
    for event in launch(grid, LocalProcesses(1)):
        ends[event.job.directory] = event
        begun += event == Began(grid[0])
        if isinstance(event, Warned):
            warned.append(event)
        if isinstance(event, Progressed) and event.job == grid[0] and kills < min(begun, deaths):
            (child,) = multiprocessing.active_children()
            os.kill(child.pid, signal.SIGKILL)
            kills += 1
    problem = "the process of the run died (exit code -9)"
    assert warned == [Warned(grid[0], f"{problem}; trying once more")]
    killed, after = (ends[job.directory] for job in grid)
    assert isinstance(after, Finished)
    if deaths == 1:
        assert isinstance(killed, Finished)
    else:
        assert killed == Failed(grid[0], f"{problem}, for the second time")
        assert (grid[0].directory / FAILURE).exists()


def test_a_run_that_goes_on_from_an_older_checkpoint_is_told_of(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1, epochs="300")
    for stop in (1, 2):
        told = []
        list(launch_and_note(job, told, stop))
    checkpoint = RunDirectory(job.directory).checkpoint
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    events = list(launch([job], LocalProcesses(1)))
    (warned,) = [event for event in events if isinstance(event, Warned)]
    assert "checkpoint.safetensors: cannot be resumed from (damaged" in warned.problem
    assert isinstance(events[-1], Finished)


def test_a_plan_is_run_by_whoever_starts_it_and_found_by_the_sweep(data, tmp_path) -> None:
    grid = jobs(data, tmp_path / "planned", 1, 4, experiment="a-trial")
    finished_before = last_events(launch(grid[:1], LocalProcesses(1)))
    left = write_plan(grid)
    assert left == write_plan(grid) == grid[1:]
    there = RunDirectory(grid[1].directory)
    assert RunConfig.of(there.path) == grid[1].config
    assert ConfigFile.of(there.path).data_sha256 is None
    with pytest.raises(SystemExit) as end:
        main(["train", "--out", str(there.path), "--resume"])
    assert not end.value.code
    record = there.record()
    assert (record.experiment, record.variant) == ("a-trial", "single")
    events = list(launch(grid, LocalProcesses(1)))
    assert all(event.before for event in events)
    assert events[0].record == finished_before[grid[0].directory].record
    (whole,) = jobs(data, tmp_path / "whole", 4, experiment="a-trial")
    *_, last = launch([whole], LocalProcesses(1))
    same = {"seconds": record.seconds, "cpu_seconds": record.cpu_seconds}
    assert structs.replace(last.record, **same) == record
    with pytest.raises(UserError, match="the run there has epochs 2, not 3"):
        write_plan(jobs(data, tmp_path / "planned", 1, 4, experiment="a-trial", epochs="3"))


def test_a_grid_of_several_sittings_is_known_by_its_records(data, tmp_path) -> None:
    kept = tmp_path / "kept" / "records.jsonl"
    first = jobs(data, tmp_path / "first", 1, seeds=2)
    for event in launch(first, LocalProcesses(1), kept=kept):
        if isinstance(event, Finished):
            tested = keep_record(event.job, kept, "a sweep")
            assert tested.record.test.command == "a sweep"
    assert [record.seed for record in read_lines(kept)] == [0, 1]
    shutil.rmtree(tmp_path / "first")

    second = jobs(data, tmp_path / "second", 1, 4, seeds=2)
    assert write_plan(second, kept) == second[2:]
    ends = last_events(launch(second, LocalProcesses(1), kept=kept))
    for job in second:
        end = ends[job.directory]
        assert end.before == (job.config.task == "1")
        if not end.before:
            keep_record(job, kept, "a sweep")
    assert not second[0].directory.exists()
    there = read_lines(kept)
    assert [(record.task, record.seed) for record in there] == [
        ("1", 0),
        ("1", 1),
        ("4", 0),
        ("4", 1),
    ]
    assert all(len(record.curve) == 2 and record.test for record in there)
    keep_record(second[2], kept, "another sweep")
    assert read_lines(kept) == there

    with pytest.raises(UserError, match=r"records.jsonl:1: the run there has epochs 2, not 3"):
        launch(jobs(data, tmp_path / "third", 1, epochs="3"), LocalProcesses(1), kept=kept)


def test_the_longest_come_first(data, tmp_path) -> None:
    for path in data.iterdir():
        path.write_text("nonsense\n")
    write_data(data, 3)
    (data / "qa3_train.txt").write_text("nonsense\n")
    grid = jobs(data, tmp_path, 1, 20, 3, seeds=2)
    begun = [event.job for event in launch(grid, LocalProcesses(1)) if isinstance(event, Began)]
    order = [(job.config.task, job.config.seed) for job in begun]
    assert order == [("3", 0), ("3", 1), ("20", 0), ("20", 1), ("1", 0), ("1", 1)]


def test_a_run_that_somebody_else_works_on_is_left_alone(data, tmp_path) -> None:
    (job,) = jobs(data, tmp_path, 1)
    job.directory.mkdir(parents=True)
    with RunDirectory(job.directory).locked():
        *_, last = launch([job], LocalProcesses(1))
    assert "another process is working on this run" in last.problem
    assert not (job.directory / FAILURE).exists()


def test_workers_must_be_there() -> None:
    with pytest.raises(UserError, match="--workers"):
        list(launch([], LocalProcesses(0)))


def test_test_questions_are_scored_when_all_runs_are_finished(data, tmp_path) -> None:
    grid = jobs(data, tmp_path, 1, 4)
    list(launch(grid, LocalProcesses(1)))
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
