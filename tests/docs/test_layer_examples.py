"""The examples of the layer, as they stand in examples/."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str) -> list[str]:
    script = [sys.executable, EXAMPLES / f"{name}.py"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_model_learns_to_remember_by_two_keys() -> None:
    (line,) = run("layer_in_a_model")
    found = re.fullmatch(r"right answers: (.*)%; by chance: 10%", line)
    assert float(found[1]) >= 99


def test_a_log_without_end_is_remembered() -> None:
    assert run("layer_stream") == [
        "20,000 lines read; 512 of 512 last values right",
        "the memory is 16,384 numbers, as after the first line",
    ]


def test_another_process_answers_from_a_saved_memory() -> None:
    assert run("layer_saved") == ["told: room 7; the other process answers: room 7"]
