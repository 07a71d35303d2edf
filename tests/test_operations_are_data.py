"""Only the table, the oracle, the bounds of keys and the kernel name the memory's operations."""

import ast
import re
from pathlib import Path

import pytest

from tpr_rnn.memory import SPECS

ROOT = Path(__file__).parents[1]
MEMORY = ROOT / "src" / "tpr_rnn" / "memory"
ALLOWED = {MEMORY / name for name in ("operations.py", "keys.py", "sequential.py")}
ALLOWED |= {MEMORY / "native" / "operator.py"}
UNMISTAKABLE = "backlink"
"""Write and move are also plain English."""


def named(source: str) -> list[str]:
    """The texts of a Python file, docstrings aside, that name operations."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = re.findall(r"[\w-]+", node.value)
            only_names = bool(words) and set(words) <= set(SPECS)
            if id(node) not in docstrings and (only_names or UNMISTAKABLE in words):
                found.append(f"line {node.lineno}: {node.value!r}")
    return found


@pytest.mark.parametrize(
    "path",
    [
        path
        for folder in ("src", "benchmarks", "examples")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path not in ALLOWED
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_python_takes_operations_from_the_table(path) -> None:
    assert named(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source", ['x = "move"', 'x = {"operations": "write,move"}', 'print("or backlink")']
)
def test_names_are_found(source) -> None:
    assert named(source)
    assert not named('"""Write, move and backlink."""\nprint("write to a file")')


def test_the_page_takes_names_and_colours_from_the_interface() -> None:
    page = ROOT / "src" / "tpr_rnn" / "explorer" / "page"
    files = [path for path in page.rglob("*") if path.suffix in {".js", ".css", ".html"}]
    assert files
    colours = {colour for spec in SPECS.values() for colour in (spec.colour, spec.colour_on_dark)}
    for path in files:
        text = path.read_text("utf-8").lower()
        assert UNMISTAKABLE not in text, path
        assert not [colour for colour in colours if colour in text], path
