"""How a C++ kernel is compiled: here on first use, or beforehand for a wheel.

A kernel is a directory with a `kernel.cpp`. Of PyTorch it uses the stable ABI alone (`aten.h`), so
a library that was built once works with every PyTorch from 2.10 on. This file is of the standard
library alone, for it is also what builds a wheel (`hatch_build.py`), where nothing is installed.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

HEADERS = Path(__file__).parent
# Sums may be reordered to fill vector registers; infinities and NaNs keep their meaning. Not by
# -ffast-math: a library that is linked with it makes the whole process take tiny numbers for 0.
REORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")
FLAGS = ("-O3", *REORDER, "-freciprocal-math", "-std=c++20", "-fPIC", "-fvisibility=hidden")
STABLE = ("-DTORCH_TARGET_VERSION=0x020a000000000000",)
"""The oldest PyTorch that a library must work with: 2.10."""
V2 = {"cx16", "lahf_lm", "popcnt", "ssse3", "sse4_1", "sse4_2"}
V3 = V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS: dict[str, dict[str, set[str]]] = {
    "x86_64": {"x86-64-v4": V4, "x86-64-v3": V3, "x86-64-v2": V2},
    "aarch64": {"armv8-a": set()},
}
"""What is built beforehand for a kind of processor, best first, and what Linux must say of one."""


def compile_kernel(source: Path, library: Path, torch: Path, *, march: str = "native") -> None:
    """Compile the kernel in a directory, for the PyTorch in another."""
    found = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    compiler = shlex.split(os.environ.get("CXX") or found or "")
    if not compiler:
        raise OSError("no C++ compiler was found")
    if shutil.which(compiler[0]) is None:
        raise OSError(f"there is no compiler {compiler[0]}, which CXX names")
    library.parent.mkdir(parents=True, exist_ok=True)
    # Compiled beside its place and moved there, so that it is whole or not there at all.
    with tempfile.TemporaryDirectory(dir=library.parent) as directory:
        built = Path(directory) / library.name
        command = [*compiler, *FLAGS, *STABLE, f"-march={march}", "-shared"]
        command += [str(source / "kernel.cpp"), "-o", str(built)]
        command += [f"-I{HEADERS}", f"-I{torch / 'include'}", f"-L{torch / 'lib'}", "-ltorch_cpu"]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        os.replace(built, library)


def fingerprint(source: Path, *more: str) -> str:
    """Another source, or whatever else matters, needs another library."""
    files = sorted({*source.glob("*.[ch]*"), *HEADERS.glob("*.h")})
    parts = (*(path.read_text("utf-8") for path in files), *FLAGS, *STABLE, *more)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def prebuilt(source: Path, level: str) -> Path:
    """Where a wheel has the library of a kernel for a level of processors."""
    return source / "prebuilt" / f"{level}.so"
