"""`tpr-rnn train`: what it says and saves, Ctrl-C, and how it goes on."""

import json
import re
import signal
import subprocess
import sys
import time

from cli.command import ONCE, run

QUICK = ["--set", "epochs=2", *ONCE]
ENDLESS = ["--set", "stop_after_zero_error=none"]


def test_training_says_what_it_does_and_saves_it(trained) -> None:
    names = {path.name for path in trained.iterdir()}
    assert names == {"config.json", "model.safetensors", "metrics.jsonl", "result.json"}
    result = json.loads((trained / "result.json").read_text())
    assert result["valid"]["error"] <= 5
    assert result["test"] is None
    assert result["data"] != "generated"


def test_train_with_json_prints_one_document(data, tmp_path) -> None:
    done = run(
        "train", "--task", "1", "--data", str(data), "--out", str(tmp_path / "r"), "--json", *QUICK
    )
    assert done.returncode == 0
    assert json.loads(done.stdout) == json.loads((tmp_path / "r" / "result.json").read_text())
    assert "preset single, seed 0" in done.stderr


def test_a_finished_run_has_nothing_to_resume(trained) -> None:
    done = run("train", "--out", str(trained), "--resume")
    assert done.returncode == 0
    assert "nothing to resume" in done.stdout


def test_resume_begins_a_run_that_is_not_there(data, tmp_path) -> None:
    arguments = ["train", "--task", "1", "--data", str(data), "--out", str(tmp_path / "new")]
    assert run(*arguments, "--resume", *QUICK).returncode == 0


def test_ctrl_c_saves_and_shows_how_to_go_on(data, tmp_path) -> None:
    directory = tmp_path / "a run"
    arguments = ["train", "--task", "1", "--data", str(data), "--out", str(directory)]
    settings = ["--set", "epochs=500", *ONCE, *ENDLESS]
    process = subprocess.Popen(
        [sys.executable, "-m", "tpr_rnn", *arguments, *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (directory / "metrics.jsonl").exists():
        assert time.monotonic() < deadline, "no evaluation within a minute"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.search(r"Interrupted at step \d+ of 1000; everything is saved", output)
    assert f"train --out '{directory}' --resume" in output
    assert "Traceback" not in output
    assert (directory / "checkpoint.safetensors").exists()


def test_ctrl_c_before_the_run_says_so() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tpr_rnn", "train", "--task", "all", "--out", "/nonexistent/x"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    assert "reading the stories" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in output
    assert "Traceback" not in output


def test_a_reader_that_goes_away_does_not_cost_the_run(data, tmp_path) -> None:
    arguments = ["train", "--task", "1", "--data", str(data), "--out", str(tmp_path / "r")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tpr_rnn", *arguments, "--set", "epochs=2000", *ONCE, *ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    while not process.stdout.readline().startswith("step"):
        pass
    process.stdout.close()
    assert process.wait(timeout=90) == 141
    assert (tmp_path / "r" / "checkpoint.safetensors").exists()
