"""The README's Python examples run as they stand."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("example", EXAMPLES, ids=["train and ask", "memory"])
def test_the_examples_run(example, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    if "Reader" in example:
        error, best, *_ = capsys.readouterr().out.splitlines()
        assert float(error) <= 0.5
        assert best.split()[0] == "office"
