"""`tpr-rnn sweep` as a person or a program meets it."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

from cli.command import run
from experiments.tiny import jobs, write_data
from report.made_up import make_record
from tpr_rnn.cli import main
from tpr_rnn.cli.sweep_view import SweepView
from tpr_rnn.evaluation.record import read_lines
from tpr_rnn.experiments.local import LocalProcesses
from tpr_rnn.experiments.worker import Began, Failed, Finished, Progressed, Warned
from tpr_rnn.report.write import write_report
from tpr_rnn.training.run_directory import Busy, RunDirectory

DEADLINE = 120


def command(data, out, *more: str) -> list[str]:
    once = ["--set", "attempts=1", "--set", "decay_epochs=0", "--set", "start_decay_below=none"]
    settings = ["--set", "stop_after_zero_error=none", *once, *more]
    return ["sweep", "single-task", "--data", str(data), "--out", str(out), *settings]


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path / "data", 1, 15)


def test_a_sweep_runs_skips_and_tells_of_failures(data, tmp_path) -> None:
    (data / "qa15_valid.txt").write_text("nonsense\n")
    out = tmp_path / "out"
    arguments = command(data, out, "--seeds", "2", "--tasks", "1,15", "--set", "epochs=2")
    done = run(*arguments, "--workers", "2", "--json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["sweep"] == "single-task"
    assert [(record["task"], record["seed"]) for record in told["records"]] == [("1", 0), ("1", 1)]
    failed = out / "single" / "task-15" / "seed-0"
    assert told["failed"][0]["directory"] == str(failed)
    assert f"FAILED single task 15 seed 0: {failed / 'failure.json'}" in done.stderr
    assert "2 of 4 runs finished" in done.stderr
    assert [record["test"] for record in told["records"]] == [None, None]
    assert "test questions are scored when all runs are finished" in done.stderr

    done = run(*command(data, tmp_path / "none", "--tasks", "15", "--seeds", "1"))
    assert (done.returncode, "0 of 1 runs finished, in 0.0 s" in done.stdout) == (1, True)

    write_data(data, 15)
    done = run(*arguments, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "2 of them were finished before" in done.stdout
    assert "4 of 4 runs finished" in done.stdout
    assert "scoring the test questions of 4" in done.stdout
    records = out / "single-task.jsonl"
    assert f"report {records}" in done.stdout

    write_report([records], tmp_path / "report")
    page = (tmp_path / "report" / "single-task.md").read_text("utf-8")
    assert "task 2, seed 0, 1" in page
    of_task = [record for record in read_lines(records) if record.task == "1"]
    assert {record.test.command for record in of_task} == {"tpr-rnn sweep single-task"}
    assert f"| 1 | {sum(record.test.error for record in of_task) / 2:.2f} ± " in page


def test_a_sweep_survives_kill_and_ctrl_c(data, tmp_path) -> None:
    out = tmp_path / "out"
    arguments = command(data, out, "--seeds", "2", "--tasks", "1", "--set", "epochs=300")
    curves = [out / "single" / "task-1" / f"seed-{seed}" / "metrics.jsonl" for seed in (0, 1)]

    killed = start([*arguments, "--workers", "2"])
    wait_until(lambda: all(curve.exists() for curve in curves))
    killed.kill()
    killed.communicate(timeout=DEADLINE)
    for curve in curves:  # a worker that went on would keep the lock of its run
        wait_until(lambda curve=curve: not busy(RunDirectory(curve.parent)))
        assert not (curve.parent / "result.json").exists()

    interrupted = start([*arguments, "--workers", "2"])
    wait_until(lambda: all(busy(RunDirectory(curve.parent)) for curve in curves))
    os.killpg(interrupted.pid, signal.SIGINT)  # as a terminal does it: to the workers too
    told, _ = interrupted.communicate(timeout=DEADLINE)
    assert interrupted.returncode == 130, told
    assert "0 of 2 runs finished; everything is saved" in told
    assert "Traceback" not in told
    assert f"--set epochs=300 --out {out}" in told
    for curve in curves:
        assert (curve.parent / "checkpoint.safetensors").exists()
        assert not (curve.parent / "failure.json").exists()

    done = run(*arguments, "--workers", "2")
    assert done.returncode == 0, done.stderr
    for curve in curves:
        epochs = [json.loads(line)["epoch"] for line in curve.read_text().splitlines()]
        assert epochs == list(range(1, 301))


def start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "tpr_rnn", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_until(true) -> None:
    deadline = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def busy(run: RunDirectory) -> bool:
    try:
        with run.locked():
            return False
    except Busy:
        return True


def test_a_terminal_shows_what_is_done_running_and_failed(data, tmp_path) -> None:
    first, second, third, fourth = jobs(data, tmp_path, 1, 15, seeds=2)
    view = SweepView(
        "single-task", [first, second, third, fourth], LocalProcesses(2), to_stderr=False
    )
    screen = io.StringIO()
    view.console = Console(file=screen, force_terminal=True, width=100, highlight=False)
    with view.watching():
        view.show(Finished(first, make_record("1", 0, {"1": 1.5}, seconds=90.0)))
        view.show(Failed(second, "Traceback\nValueError: broken\n"))
        view.show(Began(third))
        view.show(Progressed(fourth, 0.5, 7, 14, 2.25, 30.0, attempt=2))
        view.show(Warned(fourth, "the process of the run died; trying once more"))
    told = screen.getvalue()
    assert re.search(r"single +│ +4 │ +1 │ +1 │ +1.50 %", told)
    assert "1/4 | single task 1 seed 0 | valid 1.50 % | 1 min 30 s" in told
    assert "FAILED: ValueError: broken" in told
    assert re.search(r"single task 15 seed 0 +│ reading the stories", told)
    assert re.search(r"single task 15 seed 1 +│ epoch 7/14, attempt 2 +│ valid 2.25 %", told)
    assert "single task 15 seed 1 | the process of the run died; trying once more" in told
    assert re.search(r"about \d+ .*left", told)
    assert view.left


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["everything"], "unknown experiment 'everything'; there are single-task"),
        (["single-task", "--seeds", "0"], "--seeds must be 1 or more"),
        (["single-task", "--workers", "0"], "--workers must be 1 or more"),
        (["single-task", "--on", "mars"], "--on takes local, ray, ray:ADDRESS, slurm, not 'mars'"),
        (["single-task", "--memory", "4G"], "--partition, --time and --memory are for --on slurm"),
        (["single-task", "--on", "slurm", "--time", "1"], "--time must be 2 minutes or more"),
        (["single-task", "--on", "slurm", "--memory", "lots"], "--memory takes a size such as 4G"),
        (["single-task", "--threads", "0"], "threads must be 1 or more"),
        (["single-task", "--threads", "9999"], "--threads must be from 1 to"),
        (["single-task", "--device", "toaster"], "--device is cpu, cuda"),
        (["single-task", "--first-seed", "-1"], "the seed must be"),
        (["single-task", "--tasks", "1,1"], "takes different tasks, such as 1,19, not '1,1'"),
        (["single-task", "--tasks", "all"], "--tasks takes different tasks"),
        (["single-task", "--tasks", "1,x"], "there is no task 'x'"),
        (["single-task", "--tasks", "1,01"], "there is no task '01'"),
        (["single-task", "--tasks", "21"], "there is no task '21'"),
        (["all-tasks", "--tasks", "1"], "leave out --tasks"),
        (["single-task", "--preset", "best"], "unknown preset 'best'"),
        (["single-task", "--set", "speed=9"], "unknown setting 'speed'"),
        (["ablation", "--set", "operations=write"], "chooses the operations itself"),
        (
            ["ablation", "--preset", "lstm"],
            "the ablation needs a memory, which 'lstm' does not have",
        ),
        (["single-task", "--data", "NOWHERE"], "NOWHERE: no such directory"),
        (["single-task", "--data", "DATA"], "no file of task '2'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_refused_before_anything_runs(
    arguments, message, data, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TPR_RNN_DATA", raising=False)
    places = {"NOWHERE": tmp_path / "NOWHERE", "DATA": data}
    with pytest.raises(SystemExit) as end:
        main(["sweep", *(str(places.get(argument, argument)) for argument in arguments)])
    assert end.value.code == 2
    told = capsys.readouterr()
    assert message in told.err
    assert not told.out
    assert not (tmp_path / "runs").exists()


def test_a_plan_is_a_command_for_each_run(data, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = command(data, "a plan", "--seeds", "2", "--tasks", "1", "--set", "epochs=2")
    for form, read in ((["--plan"], str.splitlines), (["--plan", "--json"], json.loads)):
        with pytest.raises(SystemExit) as end:
            main([*arguments, "--threads", "1", "--device", "cpu", *form])
        assert not end.value.code
        told = capsys.readouterr()
        assert "2 runs, 0 of them finished" in told.err
        listed = read(told.out)
        lines = listed if form == ["--plan"] else [run["command"] for run in listed["runs"]]
        places = [f"'a plan/single/task-1/seed-{seed}'" for seed in (0, 1)]
        assert [line.split(" train ")[1] for line in lines] == [
            f"--out {place} --resume" for place in places
        ]
    for line in lines:
        done = run(*shlex.split(line.split(" ", 1)[1]))
        assert done.returncode == 0, done.stderr
    done = run(*arguments, "--json")
    assert "2 of them were finished before" in done.stderr
    assert [record["test"] is None for record in json.loads(done.stdout)["records"]] == [False] * 2


def test_a_file_of_records_outlives_the_runs(data, tmp_path) -> None:
    kept = tmp_path / "records.jsonl"
    once = ["--tasks", "1", "--set", "epochs=2", "--records", str(kept), "--workers", "1"]
    done = run(*command(data, tmp_path / "a", "--seeds", "1", *once))
    assert done.returncode == 0, done.stderr
    assert f"report {kept}" in done.stdout
    done = run(*command(data, tmp_path / "b", "--seeds", "2", *once, "--json"))
    assert "1 of them were finished before" in done.stderr
    assert [record["test"] is None for record in json.loads(done.stdout)["records"]] == [False] * 2
    assert [record.seed for record in read_lines(kept)] == [0, 1]
    assert [path.name for path in (tmp_path / "b" / "single" / "task-1").iterdir()] == ["seed-1"]


def test_a_place_that_cannot_be_made_is_named_before_any_run(tmp_path, capsys) -> None:
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(SystemExit) as end:
        main(command(write_data(tmp_path / "data", 1), place / "runs", "--tasks", "1"))
    assert end.value.code == 2
    assert f"{place / 'runs' / 'single' / 'task-1'}: cannot be made" in capsys.readouterr().err
