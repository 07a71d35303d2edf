"""The Python examples of the documentation run as they stand."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), flags=re.DOTALL)


PAGES = {"README.md": 3, "docs/layer.md": 3, "docs/memory.md": 2}
"""How many there are in each."""
EXAMPLES = {
    f"{page} {number}": text
    for page in PAGES
    for number, text in enumerate(examples(page), start=1)
}


def test_there_are_examples() -> None:
    assert {page: len(examples(page)) for page in PAGES} == PAGES


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_run(name, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[name], name, "exec"), {})
    if "Reader" in EXAMPLES[name]:
        error, best, *_ = capsys.readouterr().out.splitlines()
        assert float(error) <= 0.5
        assert best.split()[0] == "office"
