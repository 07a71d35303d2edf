"""Files that are either whole or not there, whenever the machine dies; tensors in files."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def write_atomically(path: Path, content: bytes, before: Path | None = None) -> None:
    """Write a file beside its place, then move it there in one step.

    Args:
        path: the file.
        content: what it is to hold.
        before: where the file that was there goes; None: it is replaced.
    """
    with _named(path):
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            if before is not None and path.exists():
                os.replace(path, before)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def clear_unfinished(directory: Path) -> None:
    """Remove what a process that was killed within `write_atomically` has left in a directory.

    Nobody else may be writing there meanwhile.
    """
    for path in directory.glob(f".*.{_RANDOM}"):
        path.unlink(missing_ok=True)


_RANDOM = 8 * "[a-z0-9_]"
"""How `tempfile` ends the names that it gives."""


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


def write_tensors(
    path: Path,
    tensors: "Mapping[str, Tensor]",
    description: Mapping[str, Any],
    before: Path | None = None,
) -> None:
    """Write tensors and a description (JSON values) into a safetensors file, with a checksum.

    `before`: as in `write_atomically`.
    """
    from safetensors.torch import save

    # Parameters are views of one flat buffer while training; the file holds plain copies.
    plain = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
    content = {**description, "checksum": _checksum(description, plain)}
    # One entry, for safetensors writes several in a random order: equal contents, equal files.
    write_atomically(path, save(plain, {_ENTRY: json.dumps(content, ensure_ascii=False)}), before)


def read_tensors(path: Path) -> "tuple[dict[str, Any], dict[str, Tensor]]":
    """The description and the tensors of a file that `write_tensors` has made.

    Files of version 0.1 have no checksum, and are believed.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        # A checkpoint of version 0.1 has no such entry, but several.
        description = json.loads(metadata[_ENTRY]) if _ENTRY in metadata else dict(metadata)
        checksum = description.pop("checksum", None)
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: damaged, or no safetensors file ({error})") from error
    except (AttributeError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: damaged ({error})") from error
    if checksum is not None and checksum != _checksum(description, tensors):
        raise UserError(f"{path}: damaged (its checksum is not that of its content)")
    return description, tensors


_ENTRY = "tpr-rnn"
"""The entry of a safetensors file's metadata that holds the description."""


def _checksum(description: Mapping[str, Any], tensors: "Mapping[str, Tensor]") -> str:
    """One checksum of all that a file holds; the order of its parts does not count."""
    import torch

    found = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        found.update(repr((name, tensor.dtype, tuple(tensor.shape))).encode())
        found.update(tensor.flatten().view(torch.uint8).numpy().data)
    return found.hexdigest()
