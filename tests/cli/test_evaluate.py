"""`tpr-rnn evaluate`: validation by default, and test questions once, at the end."""

import json
import shutil

import pytest

from cli.command import run
from tpr_rnn.cli import main


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
