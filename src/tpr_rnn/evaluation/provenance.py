"""What a result was made with: code, kernel, versions, and when."""

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """The code that is running; None where git does not know it."""

    commit: str | None
    dirty: bool | None
    """Whether it has changes that are in no commit."""


def source() -> Source:
    """The commit of this package, if it runs from a git checkout of its own."""
    try:
        if not _git("ls-files", "--", "__init__.py"):  # installed, or within another project
            return Source(None, None)
        return Source(_git("rev-parse", "HEAD"), bool(_git("status", "--porcelain", "--", ".")))
    except (OSError, subprocess.SubprocessError):
        return Source(None, None)


def versions() -> dict[str, str]:
    """The versions that a result was made with."""
    packages = {name: version(name) for name in ("tpr-rnn", "torch", "numpy")}
    return {"python": platform.python_version(), **packages}


def now() -> str:
    """Date and time as a record has them."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _git(*arguments: str) -> str:
    found = subprocess.run(
        ["git", *arguments],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=10,
        check=True,
    )
    return found.stdout.strip()
