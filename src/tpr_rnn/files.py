"""Files that are either whole or not there, whenever the machine dies; tensors in files."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tpr_rnn.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor


def make_directory(path: Path) -> None:
    """Make a directory, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        files = [place for place in (path, *path.parents) if place.is_file()]
        reason = f"{files[0]} is a file" if files else error.strerror
        raise UserError(f"{path}: cannot be made ({reason})") from error


def check_directory(path: Path, expected: str) -> None:
    """Refuse what is no directory."""
    if not path.is_dir():
        what = "not a directory" if path.exists() else "no such directory"
        raise UserError(f"{path}: {what}; expected {expected}")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place, then move it there in one step."""
    with _named(path):
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def append_line(path: Path, line: str) -> None:
    """Add a line to a file."""
    with _named(path), path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let an error of the system say which file it is about: that of a full disk does not."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def read_tensors(path: Path) -> "tuple[dict[str, str], dict[str, Tensor]]":
    """The metadata and the tensors of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return file.metadata() or {}, tensors
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: damaged, or no safetensors file ({error})") from error
