"""Compile a C++ kernel on first use, and load it."""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import torch

DIRECTORY = Path(__file__).parent
# Sums may be reordered to fill vector registers; infinities and NaNs keep their meaning. Not by
# -ffast-math: a library that is linked with it makes the whole process take tiny numbers for 0.
REORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")
FLAGS = ("-O3", "-march=native", *REORDER, "-freciprocal-math", "-std=c++20", "-fPIC")


@cache
def load(directory: Path = DIRECTORY) -> str | None:
    """Load the kernel in a directory, compiling it if need be.

    Returns what is in the way, if anything is.
    """
    if os.environ.get("TPR_RNN_NATIVE") == "0":
        return "switched off by TPR_RNN_NATIVE=0"
    try:
        library = _cache_directory() / f"kernel-{_fingerprint(directory)}.so"
        if not library.exists():
            _compile(directory, library)
        try:
            torch.ops.load_library(library)
        except OSError:  # a damaged file; make it anew, once
            _compile(directory, library)
            torch.ops.load_library(library)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines() or ["no message"]
        return f"the C++ kernel does not compile: {lines[0]}"
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error).splitlines()[0]
    return None


def _compile(source: Path, library: Path) -> None:
    found = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    compiler = shlex.split(os.environ.get("CXX") or found or "")
    if not compiler:
        raise OSError("no C++ compiler was found")
    if shutil.which(compiler[0]) is None:
        raise OSError(f"there is no compiler {compiler[0]}, which CXX names")
    torch_directory = Path(torch.__file__).parent
    include = torch_directory / "include"
    library.parent.mkdir(parents=True, exist_ok=True)
    # Compiled beside its place and moved there, so that it is whole or not there at all.
    with tempfile.TemporaryDirectory(dir=library.parent) as directory:
        built = Path(directory) / library.name
        command = [*compiler, *FLAGS, "-shared", str(source / "kernel.cpp"), "-o", str(built)]
        command += [f"-I{include}", f"-I{include}/torch/csrc/api/include"]
        command += [f"-L{torch_directory / 'lib'}", "-lc10", "-ltorch_cpu"]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        os.replace(built, library)


def _cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tpr-rnn"


def _fingerprint(directory: Path) -> str:
    """Another source, torch, Python or processor needs another kernel."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
        cpu = next((line for line in lines if line.startswith(("flags", "Features"))), cpu)
    sources = [path.read_text("utf-8") for path in sorted(directory.glob("*.[ch]*"))]
    parts = (*sources, torch.__version__, cpu, *FLAGS)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
