"""Load a C++ kernel, as it came with the wheel or compiled on first use; and call it."""

import os
import platform
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tpr_rnn.memory.native.compiler import LEVELS, compile_kernel, fingerprint, prebuilt

DIRECTORY = Path(__file__).parent
REFUSALS = {"ValueError": ValueError, "IndexError": IndexError}


class Kernel(NamedTuple):
    """Whether a kernel is loaded, and how; or what was in the way."""

    loaded: bool
    how: str


@cache
def load(directory: Path = DIRECTORY) -> Kernel:
    """Load the kernel in a directory: the one built beforehand, else one that is compiled here."""
    if os.environ.get("TPR_RNN_NATIVE") == "0":
        return Kernel(False, "switched off by TPR_RNN_NATIVE=0")
    built = [path for path in _prebuilt_for_here(directory) if path.exists()]
    refused = ""
    if built:
        try:
            torch.ops.load_library(built[0])
            return Kernel(True, f"prebuilt for {built[0].stem}")
        except (OSError, RuntimeError) as error:
            refused = f"; the prebuilt one does not load: {_first_line(error)}"
    try:
        _load_compiled(directory)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines() or ["no message"]
        return Kernel(False, f"the C++ kernel does not compile: {lines[0]}{refused}")
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        return Kernel(False, _first_line(error) + refused)
    return Kernel(True, f"compiled on first use{refused}")


def call(operator: Callable[..., Any], *inputs: Any) -> Any:
    """Call an operator of a kernel; what it refuses is raised as what the kernel says it is."""
    try:
        return operator(*inputs)
    except RuntimeError as error:  # which is what each one is that comes through the stable ABI
        kind, _, message = str(error).partition(": ")
        if kind in REFUSALS:
            raise REFUSALS[kind](message) from None
        raise


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _prebuilt_for_here(directory: Path) -> list[Path]:
    """Where libraries that this processor can run would be, best first."""
    has = set(_processor().partition(":")[2].split())
    levels = LEVELS.get(platform.machine(), {}) if platform.system() == "Linux" else {}
    return [prebuilt(directory, level) for level, needs in levels.items() if needs <= has]


def _load_compiled(directory: Path) -> None:
    of_all = fingerprint(directory, torch.__version__, _processor())
    library = _cache_directory() / f"kernel-{of_all}.so"
    torch_directory = Path(torch.__file__).parent
    if not library.exists():
        compile_kernel(directory, library, torch_directory)
    try:
        torch.ops.load_library(library)
    except OSError:  # a damaged file; make it anew, once
        compile_kernel(directory, library, torch_directory)
        torch.ops.load_library(library)


def _cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tpr-rnn"


def _processor() -> str:
    """What it can do, as Linux says it; elsewhere its name."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8", "replace").splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor() or platform.machine()
