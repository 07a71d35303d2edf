"""Help, and the commands that train and ask nothing."""

import dataclasses
import json
import re
import shutil
import subprocess
import sys

import pytest

from cli.command import run
from tpr_rnn.cli import main
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.models.lstm import LSTMReaderConfig
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.registry import ARCHITECTURES, make_model
from tpr_rnn.training.preset import FROM_DATA
from tpr_rnn.training.recipe import Recipe


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


def test_analyze_refuses_a_model_without_a_memory_before_it_reads(trained, tmp_path) -> None:
    copy = tmp_path / "lstm"
    shutil.copytree(trained, copy)
    config = LSTMReaderConfig(vocabulary_size=2, max_words=8)
    Reader(make_model(config), Vocabulary(["mary"])).save(copy / "model.safetensors")
    done = run("analyze", str(copy), "--data", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "only a TPR-RNN has a memory to look into; this model is: LSTM" in done.stderr


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
