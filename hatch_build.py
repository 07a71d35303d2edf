"""Build the C++ kernels into a wheel, one library for each level of processors.

Off by default, so that installing from a clone or from the sdist needs no compiler. `make dist` and
the wheels of a release switch it on: HATCH_BUILD_HOOK_ENABLE_CUSTOM=true, with a PyTorch there.
"""

import importlib.util
import os
import platform
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path("src", "tpr_rnn")


class Kernels(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles each `kernel.cpp` of the package, but for what build/ has from before."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the libraries, and say that the wheel is for this kind of machine."""
        if version == "editable":
            return
        root = Path(self.root)
        compiler = _load(root / PACKAGE / "memory" / "native" / "compiler.py")
        torch = importlib.util.find_spec("torch")
        levels = compiler.LEVELS.get(platform.machine(), ())
        if torch is None or torch.origin is None or not levels or platform.system() != "Linux":
            raise RuntimeError("kernels are built where PyTorch is, for Linux on x86_64 or aarch64")
        torch_directory = Path(torch.origin).parent
        jobs = [
            (source.parent, level)
            for source in sorted((root / PACKAGE).rglob("kernel.cpp"))
            for level in levels
        ]

        def build(source: Path, level: str) -> Path:
            library = root / "build" / "kernels" / f"{compiler.fingerprint(source, level)}.so"
            if not library.exists():
                self.app.display_info(f"Compiling {source.relative_to(root)} for {level}")
                compiler.compile_kernel(source, library, torch_directory, march=level)
            return library

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                libraries = list(pool.map(build, *zip(*jobs, strict=True)))
            except subprocess.CalledProcessError as error:
                raise RuntimeError(f"{error.cmd}\n{error.stderr}") from error
        for (source, level), library in zip(jobs, libraries, strict=True):
            place = compiler.prebuilt(source, level).relative_to(root / "src")
            build_data["force_include"][str(library)] = str(place)
        build_data["pure_python"] = False
        machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{machine}"


def _load(path: Path) -> ModuleType:
    """A file of the package without the package, which needs PyTorch to be imported."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
