"""A run that is stopped, killed or damaged goes on, and comes to the same end."""

import shutil
import subprocess
import sys

import pytest

from tpr_rnn.errors import UserError
from tpr_rnn.training.events import Evaluated
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_directory import Busy, Elapsed
from training.runs import comparable, config, finish


@pytest.mark.parametrize("step", [0, 5, 12, 13, 70])
def test_a_stopped_run_resumes_to_the_same_end(data, undisturbed, tmp_path, step) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    for _ in run.events(stop=lambda: run.trainer.progress.step >= step):
        pass
    assert not run.ended
    finish(Run.resume(tmp_path / "run"))
    assert comparable(tmp_path / "run") == comparable(undisturbed)


def test_a_step_that_is_broken_off_is_not_saved(data, undisturbed, tmp_path, monkeypatch) -> None:
    """As by a second Ctrl-C: half a step must not go into the checkpoint."""
    run = Run.begin(config(data), tmp_path / "run")
    for _ in run.events(stop=lambda: run.trainer.progress.step >= 9):
        pass
    run = Run.resume(tmp_path / "run")
    follow = run.trainer.optimizer.step

    def break_off(learning_rate: float) -> None:
        follow(learning_rate)
        raise KeyboardInterrupt

    monkeypatch.setattr(run.trainer.optimizer, "step", break_off)
    with pytest.raises(KeyboardInterrupt):
        next(run.events())
    finish(Run.resume(tmp_path / "run"))
    assert comparable(tmp_path / "run") == comparable(undisturbed)


def test_the_time_before_an_interruption_counts(data, tmp_path) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    for _ in run.events(stop=lambda: run.trainer.progress.step >= 5):
        pass
    run.directory.save_checkpoint(run.trainer, Elapsed(1000.0, 600.0))
    record = finish(Run.resume(tmp_path / "run"))
    assert 1000 < record.seconds < 1600
    assert 600 < record.cpu_seconds < 1000


def test_a_run_resumes_from_an_old_checkpoint(data, undisturbed, tmp_path, monkeypatch) -> None:
    """As after a kill: more was written since the checkpoint than it knows of."""
    run = Run.begin(config(data), tmp_path / "run")
    evaluations = 0
    for event in run.events():
        evaluations += isinstance(event, Evaluated)
        if evaluations == 2:
            run.directory.save_checkpoint(run.trainer, Elapsed(1.0, 1.0))
            evaluations += 1
        if evaluations == 5:
            break
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 6')
    finish(Run.resume(tmp_path / "run"))
    assert comparable(tmp_path / "run") == comparable(undisturbed)


def test_a_damaged_line_in_the_middle_is_named_and_nothing_lost(data, tmp_path) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    evaluated: list[Evaluated] = []
    for event in run.events(stop=lambda: len(evaluated) == 3):
        if isinstance(event, Evaluated):
            evaluated.append(event)
    path = tmp_path / "run" / "metrics.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "nonsense", *lines[2:]]) + "\n")
    with pytest.raises(UserError, match=r"metrics.jsonl:2: not the line of an evaluation"):
        next(Run.resume(tmp_path / "run").events())
    assert len(path.read_text().splitlines()) == len(lines) == 3


# Each child is killed without a word when it has used its processor time. All of them are forked
# from one process that has imported torch and not used it.
KILLED_UNTIL_IT_IS_THROUGH = """
import os, signal, sys
from pathlib import Path
from tpr_rnn.training import run

run.CHECKPOINT_SECONDS = 0.0
for kills in range(50):
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, 0.02 * 1.2**kills)
        resumed = run.Run.resume(Path(sys.argv[1]))
        for _ in resumed.events():
            pass
        resumed.finish()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        break
    assert status == -signal.SIGPROF, status
print(kills)
"""


def test_a_killed_run_resumes_to_the_same_end(data, undisturbed, tmp_path) -> None:
    """Killed at any moments until the run gets through."""
    directory = tmp_path / "run"
    Run.begin(config(data), directory)
    done = subprocess.run(
        [sys.executable, "-c", KILLED_UNTIL_IT_IS_THROUGH, str(directory)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1, "the run was over before it could be killed"
    assert comparable(directory) == comparable(undisturbed)


def test_a_run_that_has_lost_its_record_says_that_it_starts_anew(
    data, undisturbed, tmp_path
) -> None:
    lost = shutil.copytree(undisturbed, tmp_path / "lost")
    (lost / "result.json").unlink()
    assert "neither its record nor a checkpoint; starting from the" in Run.resume(lost).warning


def test_a_run_of_a_preset_that_nobody_knows_is_not_resumed(data, tmp_path) -> None:
    Run.begin(config(data), tmp_path / "run")
    there = tmp_path / "run" / "config.json"
    there.write_text(there.read_text().replace('"single"', '"sinfle"'))
    with pytest.raises(UserError, match="unknown preset 'sinfle'"):
        Run.resume(tmp_path / "run")


def test_a_run_that_was_finished_meanwhile_is_not_begun_anew(data, tmp_path) -> None:
    one = Run.begin(config(data), tmp_path / "run")
    other = Run.resume(tmp_path / "run")  # reads the stories while the first one trains
    list(one.events())
    one.finish()
    before = one.directory.model.read_bytes()
    with pytest.raises(Busy, match="another process has just finished this run"):
        list(other.events())
    assert one.directory.model.read_bytes() == before


def test_what_is_no_run_is_not_resumed(tmp_path) -> None:
    with pytest.raises(UserError, match=r"config.json: no such file"):
        Run.resume(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UserError, match=r"config.json:1: not JSON"):
        Run.resume(tmp_path)
    (tmp_path / "config.json").write_text('{"task": "1"}')
    with pytest.raises(UserError, match=r"config.json: not that of a run"):
        Run.resume(tmp_path)


def test_a_run_is_not_resumed_on_other_data(data, tmp_path) -> None:
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    run = Run.begin(config(copy), tmp_path / "run")
    for _ in run.events(stop=lambda: True):
        pass
    path = copy / "qa1_train.txt"
    path.write_text(path.read_text().replace("park", "attic"))
    with pytest.raises(UserError, match=r"no longer what the run in .* was begun with"):
        Run.resume(tmp_path / "run")
