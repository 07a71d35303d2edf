"""Runs whose files are damaged, or left half-written: noticed, told in a line, and gone on from."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
import torch
from safetensors.torch import load_file, save_file

from experiments.tiny import ONE_ATTEMPT, write_data
from tpr_rnn.cli import main
from tpr_rnn.errors import UserError
from tpr_rnn.files import read_tensors, write_tensors
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import ConfigFile, RunConfig
from tpr_rnn.training.run_directory import RunDirectory
from training.damage import damaged


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("stories") / "data", 1)


def config(data) -> RunConfig:
    changes = ONE_ATTEMPT | {"epochs": "6", "batch_size": "16", "stop_after_zero_error": "none"}
    settings = preset("single").with_settings(changes)
    return RunConfig(task="1", seed=2, preset="single", settings=settings, data=str(data))


def advance(run: Run, step: int) -> dict[str, torch.Tensor]:
    """Train up to a step and save; return what was saved."""
    for _ in run.events(stop=lambda: run.trainer.progress.step >= step):
        pass
    return {name: tensor.clone() for name, tensor in run.trainer.tensors().items()}


def finish(run: Run) -> bytes:
    for _ in run.events():
        pass
    run.finish()
    return run.directory.model.read_bytes()


def assert_same(one, other) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_a_damaged_checkpoint_is_never_believed_and_the_one_before_it_is_used(
    data, tmp_path
) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    older = advance(run, 7)
    advance(run, 9)
    there = run.directory
    content = there.checkpoint.read_bytes()
    kinds = Counter()
    for what, broken in damaged(content, 60):
        there.checkpoint.write_bytes(broken)
        _, warning = there.load_checkpoint(run.trainer)
        assert warning is not None, what
        assert "cannot be resumed from (" in warning
        assert warning.endswith("; going on from checkpoint.before.safetensors")
        assert run.trainer.progress.step == 7
        assert_same(run.trainer.tensors(), older)
        kinds[what.split()[0]] += 1
    assert min(kinds.values()) > 8


def test_a_run_with_a_damaged_checkpoint_comes_to_the_same_end(data, tmp_path, capsys) -> None:
    whole = finish(Run.begin(config(data), tmp_path / "whole"))
    run = Run.begin(config(data), tmp_path / "run")
    advance(run, 7)
    advance(run, 9)
    there = run.directory
    there.checkpoint.write_bytes(there.checkpoint.read_bytes()[:-9])
    resumed = Run.resume(tmp_path / "run")
    advance(resumed, 8)  # what is damaged is not kept as the one before it
    assert there.load_checkpoint(resumed.trainer)[1] is None
    assert resumed.trainer.progress.step == 8
    there.checkpoint.unlink()  # as a kill at the worst moment leaves it
    _, warning = there.load_checkpoint(resumed.trainer)
    assert (resumed.trainer.progress.step, warning) == (7, None)
    there.checkpoint.write_bytes(b"damaged")
    with pytest.raises(SystemExit) as end:
        main(["train", "--out", str(tmp_path / "run"), "--resume"])
    assert not end.value.code
    told = capsys.readouterr().out
    assert "warning" in told
    assert "going on from checkpoint.before.safetensors" in told
    assert there.model.read_bytes() == whole
    assert not list((tmp_path / "run").glob("checkpoint*"))


def test_without_a_good_checkpoint_the_run_is_refused(data, tmp_path) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    advance(run, 7)
    for content in (b"", b"damaged", b"\x08" + 7 * b"\0" + b"{}      "):
        run.directory.checkpoint.write_bytes(content)
        with pytest.raises(
            UserError, match=r"checkpoint.safetensors: cannot be resumed .*; remove it to start"
        ):
            Run.resume(tmp_path / "run")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seconds": "long"}, r"Expected `float`, got `str` - at `\$\.seconds`"),
        ({"cpu_seconds": None}, r"`\$\.cpu_seconds`"),
        ({"progress": []}, r"`\$\.progress`"),
        ({"progress": {"step": -1}}, r"`\$\.progress\.step`"),
        ({"progress": {"step": 2.5}}, r"`\$\.progress\.step`"),
        ({"progress": {"seeds": 3}}, r"`\$\.progress\.seeds`"),
        ({"progress": {"attempt": 0}}, r"`\$\.progress\.attempt`"),
        ({"progress": {"best": [1.0]}}, r"`\$\.progress\.best`"),
        ({"progress": {"stopped": {}}}, r"`\$\.progress\.stopped`"),
        ({"progress": {"train_errors": {"1": "x"}}}, r"`\$\.progress\.train_errors\[...\]`"),
        ({"progress": {"unheard_of": 1}}, "unknown field `unheard_of`"),
        ({"unheard_of": 1}, "unknown field `unheard_of`"),
        ({"settings": {"learning_rate": 9}}, "made with learning_rate 9, and config.json has 0.0"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(data, tmp_path, change, named) -> None:
    """With a checksum that is right, as a program of another version may have written it."""
    run = Run.begin(config(data), tmp_path / "run")
    advance(run, 3)
    path = run.directory.checkpoint
    description, tensors = read_tensors(path)
    write_tensors(path, tensors, description | change)
    with pytest.raises(UserError, match=rf"checkpoint\.safetensors: cannot .* \(.*{named}"):
        Run.resume(tmp_path / "run")


def test_a_checkpoint_of_before_is_resumed_from(data, tmp_path) -> None:
    """Without a checksum, its parts kept as text."""
    whole = finish(Run.begin(config(data), tmp_path / "whole"))
    run = Run.begin(config(data), tmp_path / "run")
    advance(run, 7)
    path = run.directory.checkpoint
    description, _ = read_tensors(path)
    del description["settings"]
    parts = {name: json.dumps(value) for name, value in description.items()}
    save_file(load_file(path), path, parts)
    resumed = Run.resume(tmp_path / "run")
    assert (resumed.trainer.progress.step, resumed.warning) == (7, None)
    assert finish(resumed) == whole


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """The file of a model."""
    directory = tmp_path_factory.mktemp("trained") / "run"
    finish(Run.begin(config(data), directory))
    return directory / "model.safetensors"


def test_a_damaged_model_is_refused(trained, tmp_path) -> None:
    path = tmp_path / "model.safetensors"
    for what, broken in damaged(trained.read_bytes(), 60):
        path.write_bytes(broken)
        with pytest.raises(UserError, match=r"model\.safetensors: "):
            pytest.fail(f"believed: {what}, {Reader.load(path)}")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"vocabulary": "mary"}, r"`\$\.vocabulary`"),
        ({"vocabulary": [1]}, r"`\$\.vocabulary\[0\]`"),
        ({"vocabulary": []}, "the vocabulary is of another size"),
        ({"max_sentences": 0}, r"`\$\.max_sentences`"),
        ({"max_sentences": "all"}, r"`\$\.max_sentences`"),
        ({"model": 7}, r"`\$\.model`"),
        ({"model": "gru"}, "unknown architecture 'gru'"),
        ({"config": []}, r"`\$\.config`"),
        ({"config": {"speed": 9}}, "unknown settings of a model: speed"),
    ],
)
def test_a_model_with_a_field_of_the_wrong_type_is_named(trained, tmp_path, change, named) -> None:
    path = tmp_path / "model.safetensors"
    description, tensors = read_tensors(trained)
    write_tensors(path, tensors, description | change)
    with pytest.raises(UserError, match=rf"model\.safetensors: not a model .* \(.*{named}"):
        Reader.load(path)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": False}, r"Expected `int`, got `bool` - at `\$\.seed`"),
        ({"seed": -1}, "the seed must be"),
        ({"data": [1]}, r"`\$\.data`"),
        ({"device": {}}, r"`\$\.device`"),
        ({"threads": "2"}, r"`\$\.threads`"),
        ({"tasks": 3}, r"`\$\.tasks`"),
        ({"recipe": {"epochs": "6"}}, "epochs is a whole number, not '6'"),
        ({"recipe": {"epochs": {}}}, r"`\$\.recipe\[...\]`"),
        ({"recipe": {"speed": 9}}, "unknown settings of a recipe: speed"),
        ({"model": {"entity_size": 1.5}}, "entity_size is a whole number, not 1.5"),
        ({"model": None}, r"`\$\.model`"),
        ({"architecture": "gru"}, "unknown architecture 'gru'"),
        ({"unheard_of": 1}, "unknown field `unheard_of`"),
    ],
)
def test_a_config_with_a_field_that_makes_no_sense_is_named(data, tmp_path, change, named) -> None:
    Run.begin(config(data), tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UserError, match=rf"config\.json: not that of a run \(.*{named}"):
        Run.resume(tmp_path / "run")


def test_a_config_with_a_task_that_is_not_there_is_refused(data, tmp_path) -> None:
    Run.begin(config(data), tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"task": "0"}))
    with pytest.raises(UserError, match=r"no file of task '0'; there are 1 \(and all\)"):
        Run.resume(tmp_path / "run")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"task": 1}',
        "\ud800",
        '{"task": ' * 9_000,
        '{"task": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"seed": ' + "9" * 5_000 + "}",
    ],
    ids=["list", "empty", "few", "no text", "objects", "lists", "digits"],
)
def test_a_config_that_is_none_is_named_by_every_command(tmp_path, capsys, text) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, errors="surrogatepass")
    (tmp_path / "model.safetensors").write_bytes(b"")
    where = str(tmp_path)
    for command in (
        ["train", "--out", where, "--resume"],
        ["ask", where, "--question", "Where is Mary?"],
        ["evaluate", where],
    ):
        with pytest.raises(SystemExit) as end:
            main(command)
        assert end.value.code == 2
        told = capsys.readouterr().err
        assert str(path) in told
        assert told.count("\n") == 1
        assert len(told) < 600


def test_damaged_configs_never_end_in_a_traceback(data, tmp_path) -> None:
    Run.begin(config(data), tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    refused = 0
    for _, broken in damaged(path.read_bytes(), 60):
        path.write_bytes(broken)
        try:
            RunConfig.of(tmp_path / "run")
        except UserError:
            refused += 1
    assert refused > 50


def test_what_a_kill_left_half_written_is_cleared_by_the_next_resume(data, tmp_path) -> None:
    directory = tmp_path / "run"
    advance(Run.begin(config(data), directory), 3)
    script = (
        "import os, signal, sys; from pathlib import Path; from tpr_rnn import files;"
        "files.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL);"
        "files.write_atomically(Path(sys.argv[1]), b'half')"
    )
    for name in ("checkpoint.safetensors", "model.safetensors", "result.json", "failure.json"):
        done = subprocess.run([sys.executable, "-c", script, directory / name], check=False)
        assert done.returncode == -signal.SIGKILL
    assert len([path for path in directory.iterdir() if path.name.startswith(".")]) >= 4
    (directory / ".notes.txt").write_text("somebody else's")
    finish(Run.resume(directory))
    assert sorted(os.listdir(directory)) == [
        ".notes.txt",
        "config.json",
        "metrics.jsonl",
        "model.safetensors",
        "result.json",
    ]


def test_a_process_that_comes_too_late_costs_no_evaluation(data, tmp_path) -> None:
    """It finds the run at work, and must not touch what was written since the checkpoint."""
    run = Run.begin(config(data), tmp_path / "run")
    advance(run, 3)
    second = Run.resume(tmp_path / "run")
    events = run.events()
    for _ in range(10):
        next(events)
    path = tmp_path / "run" / "metrics.jsonl"
    lines = path.read_text()
    with pytest.raises(UserError, match="another process is working on this run"):
        next(second.events())
    assert path.read_text() == lines != ""


def test_a_planned_run_takes_up_its_stories_when_it_begins(data, tmp_path) -> None:
    RunDirectory(tmp_path / "run").begin(config(data).as_json())
    assert ConfigFile.of(tmp_path / "run").data_sha256 is None
    whole = Run.begin(config(data), tmp_path / "whole")
    planned = Run.resume(tmp_path / "run")
    assert ConfigFile.of(tmp_path / "run") == ConfigFile.of(tmp_path / "whole")
    assert finish(planned) == finish(whole)
