"""The pages of the reference that are made from the code have all of it."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from tpr_rnn.cli import app
from tpr_rnn.cli.settings import all_settings
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.training.presets import PRESETS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generated() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generated", DOCS / "generated.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_is_there_with_its_options(generated) -> None:
    found = re.findall(r"^#+ tpr-rnn (.*)$", generated.commands(), re.MULTILINE)
    names = [name for name in app if not name.startswith("-")]
    assert set(names) | {"data generate", "data fetch", "data describe"} == set(found)
    assert "`--seeds INT`: Runs of each kind" in generated.commands()


def test_every_setting_is_there_with_its_meaning(generated) -> None:
    text = generated.settings()
    rows = all_settings(None)
    assert {row.name for row in rows} == set(re.findall(r"^`(\w+)` = ", text, re.MULTILINE))
    assert all(f": {row.meaning}" in text for row in rows)
    assert "`batch_size` = `128`\n: " in text


def test_every_preset_is_there_with_what_it_sets(generated) -> None:
    text = generated.presets()
    assert list(PRESETS) == re.findall(r"^## (.*)$", text, re.MULTILINE)
    (lstm,) = re.findall(r"^## lstm\n\n(.*)$", text, re.MULTILINE)
    assert lstm.startswith("lstm: `")
    assert f"`epochs={PRESETS['lstm'].recipe.epochs}`" in lstm


def test_every_field_of_a_record_is_there(generated) -> None:
    text = generated.record()
    shown = re.findall(r"^`(\w+)`, ", text, re.MULTILINE)
    assert {field.name for field in msgspec.structs.fields(RunRecord)} <= set(shown)
    assert "`valid`, [ValidErrors](#validerrors)" in text
    assert "`command`, text\n: What asked for them." in text
    assert re.findall(r"^`\w+`, .*\n(?!: )", text, re.MULTILINE) == []  # none without a meaning


def test_the_speed_is_that_of_the_record(generated) -> None:
    bench = json.loads((DOCS.parent / "results" / "bench" / "bench.json").read_text("utf-8"))
    rows = generated.speed().splitlines()[2:]
    assert len(rows) == len(bench["cases"])
    for row, case in zip(rows, bench["cases"], strict=True):
        assert row.startswith(f"| {case['name']} | {case['threads']} |")
        assert f"{case['speedup']:.0f} times" in row
