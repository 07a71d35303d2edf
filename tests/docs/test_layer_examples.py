"""The examples of the layer, as they stand in examples/."""

import functools
import importlib
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module", autouse=True)
def trained_once() -> Iterator[None]:
    """Two examples use the same model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        example = importlib.import_module("layer_in_a_model")
        patch.setattr(example, "train", functools.cache(example.train))
        yield
        del sys.modules[example.__name__]


@pytest.fixture
def run(monkeypatch, capfd) -> Callable[[str], list[str]]:
    def run(name: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", [name])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capfd.readouterr().out.splitlines()

    return run


def test_a_model_learns_to_remember_by_two_keys(run) -> None:
    (line,) = run("layer_in_a_model")
    found = re.fullmatch(r"right answers: (.*)%; by chance: 10%", line)
    assert float(found[1]) >= 99


def test_a_log_without_end_is_remembered(run) -> None:
    assert run("layer_stream") == [
        "20,000 lines read; 512 of 512 last values right",
        "the memory is 16,384 numbers, as after the first line",
    ]


def test_another_process_answers_from_a_saved_memory(run) -> None:
    assert run("layer_saved") == ["told: room 7; the other process answers: room 7"]
