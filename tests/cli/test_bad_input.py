"""What a command says where the input is wrong, or nobody takes its output."""

import os
import shutil
import subprocess
import sys

import pytest

from tpr_rnn.cli import main


def test_a_broken_config_is_noticed_by_every_command(trained, tmp_path, capsys) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / "config.json").write_text('{"task": ')
    for command in (["ask", "--question", "Where is Mary?"], ["evaluate"], ["analyze"]):
        with pytest.raises(SystemExit) as end:
            main([command[0], str(copy), *command[1:]])
        assert end.value.code == 2
        assert f"{copy / 'config.json'}:1: not JSON" in capsys.readouterr().err


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_output_that_nobody_reads_ends_quietly(form) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tpr_rnn", "settings", *form],
        preexec_fn=_close_the_other_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (141, "")


def _close_the_other_end() -> None:
    """Make standard output a pipe that nobody reads from."""
    theirs, ours = os.pipe()
    os.dup2(ours, 1)
    os.close(theirs)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_full_device_is_named_without_a_number(form) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tpr_rnn", "settings", *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "tpr-rnn: standard output: cannot be written: no space left\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "trian"),
        (["train"], "which task?"),
        (["train", "--task", "21"], "there is no task '21'; without --data there are 1, 2"),
        (["train", "--task", "one"], "there is no task 'one'"),
        (["train", "--task", "1", "--preset", "best"], "unknown preset 'best'"),
        (["train", "--task", "1", "--seed", "x"], "seed"),
        (["train", "--task", "1", "--seed", "-1"], "the seed must be"),
        (["train", "--task", "1", "--operations", "move"], "move needs write"),
        (["train", "--task", "1", "--operations", "sing"], "unknown memory operation 'sing'"),
        (["train", "--task", "1", "--set", "speed=9"], "unknown setting 'speed'"),
        (["train", "--task", "1", "--set", "epochs"], "--set takes NAME=VALUE"),
        (["train", "--task", "1", "--threads", "0"], "threads must be"),
        (["train", "--task", "1", "--set", "epochs=1", "--set", "epochs=2"], "epochs is set twice"),
        (["train", "--task", "1", "--set", "learning_rate=inf"], "learning_rate must be"),
        (
            ["train", "--task", "1", "--set", "learning_rate=1e400"],
            "learning_rate must be a finite number, at most 1e308, not '1e400'",
        ),
        (
            ["train", "--task", "1", "--preset", "lstm", "--operations", "write"],
            "operations is no setting of the LSTM; it is one of tpr-rnn, word-level",
        ),
        (["train", "--task", "99"], "there is no task '99'; without --data there are 1, 2, 3"),
        (["train", "--task", "1", "--out", "DATA"], "holds files, but no run (qa1_test.txt, "),
        (["report", "TRAINED"], "nothing to report: no run has test errors"),
        (["train", "--task", "1", "--set", "entity_size=999999999999"], "entity_size must be"),
        (["train", "--task", "1", "--seed", "9" * 30], "the seed must be"),
        (["train", "--task", "1", "--device", "meta"], "--device is cpu, cuda, cuda:1"),
        (["train", "--task", "9" * 5000], "the task is the name of one"),
        (["train", "--out", "TRAINED", "--resume", "--seed", "5"], "has its own settings"),
        (["data", "generate", "--task", "1", "--out", "DATA"], "exists already"),
        (["data", "generate", "--task", "all", "--names", "Ann,Bob", "--out", "NOWHERE"], "task 4"),
        (
            ["train", "--task", "1", "--device", "toaster"],
            "--device is cpu, cuda, cuda:1, mps or xpu, not 'toaster'",
        ),
        (["train", "--task", "1", "--data", "NOWHERE"], "NOWHERE: no such directory"),
        (["train", "--task", "2", "--data", "DATA"], "no file of task '2'"),
        (["train", "--task", "1", "--out", "TRAINED"], "there is a run already"),
        (["train", "--task", "1", "--out", "TRAINED", "--resume", "--seed", "9"], "has seed 0"),
        (["train", "--out", "NOWHERE", "--resume"], "there is no run to resume"),
        (["evaluate", "NOWHERE"], "no such file"),
        (["evaluate", "TRAINED", "--split", "all"], "split"),
        (["ask", "TRAINED", "--story", "NOWHERE", "--question", "?"], "cannot be read"),
        (["ask", "TRAINED", "--question", "Where is Marry?"], "'marry' (did you mean mary?)"),
        (["ask", "--question", "Mary is in the garden."], "which ends in ?, not 'Mary is in the"),
        (["ask", "--question", "Where is Mary? Where is John?"], "takes one question, not"),
        (["ask", "--question", "Where is Mary?Where is John?"], "takes one question, not"),
        (["ask", "--question", "Mary is here. Where is she?"], "takes one question, not"),
        (["settings", "best"], "unknown preset 'best'"),
        (["ask", "TRAINED", "--json"], "--json needs a --question"),
        (["ask", "TRAINED", "--graph", "g.png"], "--graph needs a --question"),
        (["ask", "TRAINED", "--graph", "g.jpg", "--question", "Where is Mary?"], "ends in .png"),
        (["analyze", "NOWHERE"], "no such file"),
        (["analyze", "TRAINED", "--sample", "1"], "--sample must be 2 or more"),
        (["analyze", "TRAINED", "--seed", "-1"], "--seed must be 0 or more"),
        (["analyze", "TRAINED", "--data", "NOWHERE"], "no such directory"),
        (["data", "describe", "NOWHERE"], "no such directory"),
        (
            ["data", "generate", "--task", "99", "--out", "NOWHERE"],
            "there is no task '99'",
        ),
        (["data", "generate", "--task", "1", "--questions", "-5", "--out", "NOWHERE"], "questions"),
        (["data", "generate", "--task", "1", "--seed", "-1", "--out", "NOWHERE"], "the seed must"),
        (["data", "generate", "--task", "1", "--names", "", "--out", "NOWHERE"], "name"),
        (["data", "generate", "--task", "4", "--names", "Ann,Bob", "--out", "NOWHERE"], "task 4"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_gets_one_message_and_status_2(
    arguments, message, trained, data, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"NOWHERE": tmp_path / "NOWHERE", "TRAINED": trained, "DATA": data}
    with pytest.raises(SystemExit) as end:
        main([str(places.get(argument, argument)) for argument in arguments])
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "NOWHERE").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "LONG"],
        ["ask", "TRAINED", "--question", "LONG?"],
        ["ask", "TRAINED", "--question", "LONG"],
        ["train", "--task", "LONG"],
        ["train", "--task", "1", "--seed", "LONG"],
        ["train", "--task", "1", "--preset", "LONG"],
        ["train", "--task", "1", "--device", "LONG"],
        ["train", "--task", "1", "--operations", "LONG"],
        ["train", "--task", "1", "--set", "LONG"],
        ["train", "--task", "1", "--set", "LONG=1"],
        ["train", "--task", "1", "--set", "epochs=LONG"],
        ["data", "describe", "LONG"],
        ["sweep", "LONG"],
        ["sweep", "single-task", "--tasks", "LONG"],
        ["LONG"],
    ],
    ids=" ".join,
)
def test_a_long_word_is_shortened(arguments, trained, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    given = [argument.replace("LONG", "x" * 100_000) for argument in arguments]
    with pytest.raises(SystemExit) as end:
        main([str(trained) if argument == "TRAINED" else argument for argument in given])
    assert end.value.code == 2
    assert 10 < len(capsys.readouterr().err) < 1000
