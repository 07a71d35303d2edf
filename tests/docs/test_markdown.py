"""Markdown that people can read in any editor."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTH = 120
WRITTEN = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "results/LOG/*.md", "src/**/*.md")
    for path in ROOT.glob(pattern)
)


def test_there_are_pages() -> None:
    assert {"README.md", "CHANGELOG.md", "docs/memory.md", "results/LOG/README.md"} <= set(WRITTEN)


@pytest.mark.parametrize("page", WRITTEN)
def test_no_line_is_too_long(page) -> None:
    lines = (ROOT / page).read_text("utf-8").splitlines()
    long = [f"{page}:{number}" for number, line in enumerate(lines, 1) if len(line) > WIDTH]
    assert long == []


@pytest.mark.parametrize("page", WRITTEN)
def test_links_lead_somewhere(page) -> None:
    text = (ROOT / page).read_text("utf-8")
    links = [target for target in _targets(text) if "://" not in target]
    assert [target for target in links if not (ROOT / page).parent.joinpath(target).exists()] == []


def _targets(text: str) -> list[str]:
    """The files that a page links to: [text](target)."""
    return [rest.partition(")")[0].partition("#")[0] for rest in text.split("](")[1:]]


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 100] == []
