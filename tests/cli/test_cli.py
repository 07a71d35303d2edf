"""The command line as a person or a program meets it."""

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from cli.command import run
from tpr_rnn.cli import main
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.models.lstm import LSTMReaderConfig
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.registry import ARCHITECTURES, make_model
from tpr_rnn.training.preset import FROM_DATA
from tpr_rnn.training.recipe import Recipe

ONCE = ["--set", "attempts=1", "--set", "decay_epochs=0", "--set", "start_decay_below=none"]
QUICK = ["--set", "epochs=2", *ONCE]
ENDLESS = ["--set", "stop_after_zero_error=none"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("data")
    done = run("data", "generate", "--task", "1", "--questions", "1000", "--out", str(directory))
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "one"
    settings = ("--set", "epochs=40", "--set", "batch_size=32", *ONCE)
    done = run("train", "--task", "1", "--data", str(data), "--out", str(directory), *settings)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture
def story(tmp_path):
    path = tmp_path / "story.txt"
    path.write_text("Mary went to the kitchen.\nJohn moved to the garden.\n")
    return path


def test_help_does_not_import_torch() -> None:
    script = (
        "import sys; from tpr_rnn.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for command in ("train", "evaluate", "ask", "sweep", "report", "bench", "data"):
        assert command in done.stdout


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


def test_evaluate_is_on_validation_unless_told_otherwise(trained, data, tmp_path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    before = json.loads((copy / "result.json").read_text())
    done = run("evaluate", str(copy), "--data", str(data), "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert (scores["split"], scores["error"]) == ("valid", before["valid"]["error"])
    assert scores["per_task"] == before["valid"]["per_task"]
    assert scores["data_sha256"]
    assert json.loads((copy / "result.json").read_text()) == before

    told = run("evaluate", str(copy), "--data", str(data), "--split", "test", "--json")
    assert told.returncode == 0, told.stderr
    assert "Recorded in" in told.stderr
    scores = json.loads(told.stdout)
    after = json.loads((copy / "result.json").read_text())
    assert scores["split"] == "test"
    assert {key: after["test"][key] for key in ("error", "per_task")} == {
        key: scores[key] for key in ("error", "per_task")
    }
    assert after["test"]["command"] == "tpr-rnn evaluate --split test"
    again = run("evaluate", str(copy), "--data", str(data), "--split", "test")
    assert f"recorded before: {after['test']['when']}, by tpr-rnn evaluate" in again.stdout
    assert json.loads((copy / "result.json").read_text()) == after


def test_test_errors_on_other_stories_are_not_recorded(trained, data, tmp_path) -> None:
    copy, other = tmp_path / "copy", tmp_path / "other"
    shutil.copytree(trained, copy)
    shutil.copytree(data, other)
    told = run("evaluate", str(copy), "--data", str(other), "--split", "test")
    assert told.returncode == 0
    assert "Not recorded: these are not the stories that it was trained on" in told.stdout
    assert json.loads((copy / "result.json").read_text())["test"] is None


def test_test_questions_are_not_scored_where_that_cannot_be_recorded(trained, data, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    record = copy / "result.json"
    record.write_text(record.read_text().replace('"seed":', '"seeds":'))
    told = run("evaluate", str(copy), "--data", str(data), "--split", "test")
    assert told.returncode == 2
    assert "result.json: not the record of a run" in told.stderr
    assert told.stdout == ""
    # What needs no record works in a directory whose record is of another version.
    told = run("evaluate", str(copy), "--data", str(data), "--json")
    assert told.returncode == 0
    assert "error" in json.loads(told.stdout)


def test_test_questions_of_an_unfinished_run_are_not_scored(trained, tmp_path, capsys) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / "result.json").unlink()
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(copy), "--split", "test"])
    assert end.value.code == 2
    assert "not finished, and test questions are for the end" in capsys.readouterr().err


def test_evaluate_without_data_uses_that_of_the_run_and_says_so(trained, data) -> None:
    done = run("evaluate", str(trained))
    assert done.returncode == 0
    assert f"No --data is given: using {data}" in done.stdout
    assert f" valid questions from {data}" in done.stdout


def test_evaluate_asks_for_data_where_that_of_the_run_is_gone(trained, tmp_path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"data": "/nonexistent/babi"}))
    done = run("evaluate", str(copy))
    assert done.returncode == 2
    assert "was trained on /nonexistent/babi, which does not exist here; give --data" in done.stderr


def test_a_broken_config_is_noticed_by_every_command(trained, tmp_path, capsys) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / "config.json").write_text('{"task": ')
    for command in (["ask", "--question", "Where is Mary?"], ["evaluate"], ["analyze"]):
        with pytest.raises(SystemExit) as end:
            main([command[0], str(copy), *command[1:]])
        assert end.value.code == 2
        assert f"{copy / 'config.json'}:1: not JSON" in capsys.readouterr().err


def test_analyze_refuses_a_model_without_a_memory_before_it_reads(trained, tmp_path) -> None:
    copy = tmp_path / "lstm"
    shutil.copytree(trained, copy)
    config = LSTMReaderConfig(vocabulary_size=2, max_words=8)
    Reader(make_model(config), Vocabulary(["mary"])).save(copy / "model.safetensors")
    done = run("analyze", str(copy), "--data", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "only a TPR-RNN has a memory to look into; this model is: LSTM" in done.stderr


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


def test_ask(trained, story) -> None:
    question = ("--story", str(story), "--question", "Where is Mary?")
    done = run("ask", str(trained), *question)
    assert done.returncode == 0
    assert re.search(r"kitchen +\d+\.\d\d%", done.stdout)
    done = run("ask", str(trained), *question, "--json")
    answer = json.loads(done.stdout)
    assert answer["answer"] == "kitchen"
    assert answer["answers"][0]["word"] == "kitchen"
    assert 0.5 < answer["answers"][0]["probability"] <= 1


def test_an_answer_without_a_story_is_called_a_guess(trained) -> None:
    done = run("ask", str(trained), "--question", "Where is Mary?")
    assert done.returncode == 0
    assert "There is no story (--story FILE), so this is a guess." in done.stdout


@pytest.mark.parametrize(
    ("story", "message"),
    [
        (
            "Mary went to the kitchen.\nMary went to the \x1b[31mzoo.\n",
            "sentence 2: the model has never seen the word",
        ),
        (
            "Mary went to the kitchen. Where is Mary?\n",
            "a question stands in the story, 'Where is Mary?'",
        ),
    ],
)
def test_a_story_that_can_not_be_told_is_named(trained, tmp_path, story, message) -> None:
    path = tmp_path / "story.txt"
    path.write_text(story)
    done = run("ask", str(trained), "--story", str(path), "--question", "Where is Mary?")
    assert done.returncode == 2
    assert f"{path}: {message}" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_story_in_the_place_of_a_run_is_told_from_one(tmp_path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("Mary went to the kitchen.\n")
    done = run("ask", str(path), "--question", "Where is Mary?")
    assert done.returncode == 2
    assert f"{path}: not a file of a run; expected a run directory" in done.stderr


def test_a_terminal_without_the_bars_gets_an_answer_all_the_same(trained, story) -> None:
    question = ("--story", str(story), "--question", "Where is Mary?")
    done = run("ask", str(trained), *question, encoding="ascii")
    assert done.returncode == 0
    assert re.search(r"kitchen +\d+\.\d\d%", done.stdout)


def test_the_prompt(trained, story) -> None:
    lines = "Sandra went to the office\nWhere is Sandra?\nWhere is Bob?\nundo\nstory\nwords\nquit\n"
    done = run("ask", str(trained), "--story", str(story), input=lines)
    assert done.returncode == 0, done.stderr
    assert re.search(r"office +\d+\.\d\d%", done.stdout)
    assert "never seen the word 'bob'" in done.stdout
    assert "hallway" in done.stdout
    done = run("ask", str(trained), input="Mary went to the office. Where is Mary?\n")
    assert re.search(r"office +\d+\.\d\d%", done.stdout)
    assert run("ask", str(trained), input="Mary went home\n").returncode == 0


def test_ask_explains(trained, story, tmp_path) -> None:
    question = ("--story", str(story), "--question", "Where is Mary?")
    done = run("ask", str(trained), *question, "--explain")
    assert done.returncode == 0, done.stderr
    assert 'Why "kitchen"?\n  Mary went to the kitchen (1): "kitchen".\n' in done.stdout
    assert "told by 1" not in done.stdout
    done = run("ask", str(trained), *question, "--explain", "full")
    assert "told by 1: Mary went to the kitchen." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    picture = tmp_path / "memory.svg"
    done = run("ask", str(trained), *question, "--explain", "--json", "--graph", str(picture))
    trace = json.loads(done.stdout)["trace"]
    assert [sentence["text"] for sentence in trace["sentences"]] == story.read_text().splitlines()
    assert trace["question"]["answers"][0]["word"] == "kitchen"
    assert 'Why "kitchen"?' in done.stderr
    assert "<svg" in picture.read_text()


def test_the_prompt_explains(trained, story) -> None:
    done = run("ask", str(trained), "--story", str(story), "--explain", input="Where is John?\n")
    assert "  John moved to the garden (2): " in done.stdout


def test_an_explanation_that_cannot_be_given_is_refused_before_the_answer(
    data, tmp_path, capsys
) -> None:
    made = ("--task", "1", "--data", str(data), "--preset", "lstm", "--set", "epochs=1")
    assert run("train", *made, "--out", str(tmp_path / "lstm")).returncode == 0
    question = ("--question", "Where is Mary?")
    for wish in (("--explain",), ("--graph", str(tmp_path / "memory.svg"))):
        done = run("ask", str(tmp_path / "lstm"), *question, *wish)
        assert done.returncode == 2
        assert "only a TPR-RNN has a memory to look into" in done.stderr
        assert done.stdout == ""


def test_why_is_about_the_story_that_was_answered(trained, story) -> None:
    lines = "Where is John?\nJohn went to the office.\nwhy\nundo\nundo\nundo\nundo\n"
    done = run("ask", str(trained), "--story", str(story), input=lines)
    assert "John moved to the garden (2)" in done.stdout
    assert "John went to the office (3)" not in done.stdout
    assert "There is no sentence to remove." in done.stdout


def test_a_question_may_end_as_it_was_trained(trained, story) -> None:
    told = ("--story", str(story))
    done = run("ask", str(trained), *told, "--question", "Where is John ?.")
    assert done.returncode == 0, done.stderr
    done = run("ask", str(trained), *told, input="Where is John?.\n")
    assert re.search(r"% ", done.stdout)


def test_the_prompt_has_commands(trained, story) -> None:
    lines = "why\nhelp\nWhere is John?\nwhy\nwhy full\nundo\nnew\nwhy\n"
    done = run("ask", str(trained), "--story", str(story), input=lines)
    shown = done.stdout
    assert shown.count("Nothing was asked yet.") == 2  # new forgets the question too
    assert "> Where is John?\n" in shown  # what is piped is echoed
    assert "The arrow keys bring back earlier lines." in shown
    assert shown.count("  John moved to the garden (2): ") == 2
    assert "told by 2: John moved to the garden." in shown
    assert "Removed: " in shown
    assert " 0.00%" not in shown


def test_analyze(trained, data, tmp_path) -> None:
    arguments = ("--data", str(data), "--out", str(tmp_path / "new"), "--sample", "10")
    done = run("analyze", str(trained), *arguments, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads((tmp_path / "new" / "report.json").read_text())
    assert report["split"] == "valid"
    assert report["tasks"] == ["1"]
    assert report["sentences"]["understood"] == report["sentences"]["texts"] > 50
    assert "What the representations hold" in done.stderr
    assert len((tmp_path / "new" / "e1.txt").read_text().split(".")) == 11


def test_describe(data) -> None:
    done = run("data", "describe", str(data), "--json")
    described = json.loads(done.stdout)
    assert described["tasks"][0]["questions"] == {"train": 900, "valid": 100, "test": 1000}
    assert described["missing_tasks"] == [str(task) for task in range(2, 21)]
    assert "missing tasks: 2, 3" in done.stderr


def test_generate_repeats(data, tmp_path) -> None:
    run("data", "generate", "--task", "1", "--questions", "1000", "--out", str(tmp_path))
    for path in data.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_generate_grants_wishes(tmp_path) -> None:
    options = ("--names", "Ann,Bob", "--places", "attic,shed,pond", "--story-length", "30")
    arguments = ("--task", "1", "--questions", "200", "--out", str(tmp_path), *options)
    assert run("data", "generate", *arguments).returncode == 0
    text = (tmp_path / "qa1_train.txt").read_text()
    assert "Ann" in text
    assert "attic" in text
    assert "Mary" not in text
    assert "kitchen" not in text
    assert "\n31 " in text


def test_the_environment_names_the_data(data, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TPR_RNN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit) as end:
        main(["train", "--task", "1", "--out", str(tmp_path / "run")])
    assert end.value.code == 2
    assert "nowhere: no such directory" in capsys.readouterr().err


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
        (["train", "--task", "1", "--operations", "erase"], "unknown memory operation 'erase'"),
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


def test_settings_lists_every_setting_with_its_meaning(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["settings", "--json"])
    rows = json.loads(capsys.readouterr().out)["settings"]
    by_name = {(row["part"], row["name"]): row for row in rows}
    for field in dataclasses.fields(Recipe):
        assert by_name["training", field.name]["default"] == field.default
    for name, architecture in ARCHITECTURES.items():
        names = {each for part, each in by_name if part == f"architecture {name}"}
        fields = {field.name for field in dataclasses.fields(architecture.config)}
        assert names == fields - set(FROM_DATA)
    assert all(row["meaning"] for row in rows)
    assert by_name["training", "batch_size"]["meaning"] == "Questions in a batch."


def test_settings_of_a_preset(capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(["settings", "lstm", "--json"])
    assert not end.value.code
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["settings"]}
    assert rows["architecture"]["value"] == "lstm"
    assert rows["hidden_dropout"]["value"] == 0.2
    assert rows["hidden_dropout"]["default"] == 0.0
    assert "entity_size" not in rows
    with pytest.raises(SystemExit):
        main(["settings", "lstm"])
    assert re.search(r"hidden_dropout +│ 0.0 +│ 0.2 ", capsys.readouterr().out)
