"""CONTRIBUTING says how to add a model: here it is done to the letter, in a copy of the package."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.story import Question, Story

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "architecture": "word-reader",
    "optimizer": "adam",
    "learning_rate": "0.01",
    "batch_size": "15",
    "epochs": "4",
    "decay_epochs": "1",
    "attempts": "1",
    "hidden_size": "24",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A copy of the package with the model of CONTRIBUTING in it."""
    source = tmp_path_factory.mktemp("source")
    shutil.copytree(ROOT / "src", source, dirs_exist_ok=True)
    models = source / "tpr_rnn" / "models"
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Adding a model")[1]
    model, line = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (models / "word_reader.py").write_text(model)
    registry = (models / "registry.py").read_text()
    head, tail = registry.split('        "lstm":')
    imported = "from tpr_rnn.models.word_reader import WordReader, WordReaderConfig\n"
    above = "from tpr_rnn.models.tpr_rnn import"
    head = head.replace(above, imported + above)
    (models / "registry.py").write_text(f'{head}        {line}        "lstm":{tail}')
    return source


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A tiny task: where a person went last."""
    directory = tmp_path_factory.mktemp("stories")
    places = ("kitchen", "garden", "office")
    stories = [
        Story(
            (f"Mary went to the {a}.", f"John went to the {b}.", f"Mary went to the {c}."),
            (Question("Where is John?", b, 2, (1,)), Question("Where is Mary?", c, 3, (2,))),
        )
        for a in places
        for b in places
        for c in places
    ]
    for split, part in (
        ("train", stories[:20]),
        ("valid", stories[20:23]),
        ("test", stories[23:]),
    ):
        (directory / f"qa1_{split}.txt").write_text("".join(map(format_story, part)))
    return directory


# Trains a run twice, the second time with a stop in the middle of an epoch and one after it.
TRAIN_TWICE = """
import json, sys
from pathlib import Path
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig

out, data, settings = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
config = RunConfig(
    task="1", seed=4, preset="lstm", settings=preset("lstm").with_settings(settings), data=data
)
whole = Run.begin(config, out / "whole")
for _ in whole.events():
    pass
whole.finish()
for stop in (4, 6, 99):
    run = Run.resume(out / "stopped") if stop > 4 else Run.begin(config, out / "stopped")
    for _ in run.events(stop=lambda: run.trainer.progress.step >= stop):
        pass
run.finish()
assert any(name.startswith("model.norm.running_mean") for name in run.trainer.tensors())
for name, tensor in whole.trainer.tensors().items():
    assert tensor.equal(run.trainer.tensors()[name]), name
assert whole.trainer.model.norm.running_mean.abs().sum() > 0
"""
# Commands, each with what it prints.
THEN_USED = """
import contextlib, io
from tpr_rnn.cli import main

(out / "story.txt").write_text("Mary went to the office.")
question = ["--story", str(out / "story.txt"), "--question", "Where is Mary?"]
for command in (
    ["evaluate", str(out / "whole"), "--data", data, "--json"],
    ["ask", str(out / "stopped"), *question, "--json"],
):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            main(command)
        except SystemExit as end:
            assert not end.code
    print(json.dumps(json.loads(printed.getvalue())))
"""


def test_a_model_is_a_file_and_a_line_in_the_registry(package, data, tmp_path) -> None:
    script = (TRAIN_TWICE + THEN_USED, str(tmp_path), str(data), json.dumps(SETTINGS))
    done = subprocess.run(
        [sys.executable, "-c", *script],
        env=os.environ | {"PYTHONPATH": str(package), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    whole, stopped = (tmp_path / name / "model.safetensors" for name in ("whole", "stopped"))
    assert whole.read_bytes() == stopped.read_bytes()
    scored, asked = map(json.loads, done.stdout.splitlines())
    assert set(scored["per_task"]) == {"1"}
    answers = asked["answers"]
    assert len(answers) > 1
    assert answers[0]["probability"] >= answers[1]["probability"]
