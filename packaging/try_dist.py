"""Install what `make dist` has made into clean environments, and use it as a user would.

    python packaging/try_dist.py dist

The wheel without a compiler: prebuilt kernels at every level that this processor has, and plain
PyTorch. The sdist with a compiler and without. Each answers a question and trains for a minute.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONSTRAINTS = Path(__file__).parent.parent / "constraints.txt"
STORY = "Mary went to the kitchen.\nJohn went to the office.\nMary went to the garden.\n"
IS_PREBUILT = Path(__file__).with_name("is_prebuilt.py")
LEVELS = """
from tpr_rnn.memory.native import build
print(" ".join(path.stem for path in build._prebuilt_for_here(build.DIRECTORY) if path.exists()))
"""
AS_LEVEL = """
import runpy, sys
from tpr_rnn.memory.native import build, compiler
needs = {level: flags for each in compiler.LEVELS.values() for level, flags in each.items()}
build._processor = lambda: "flags : " + " ".join(needs[sys.argv[1]])
runpy.run_path(sys.argv[2], run_name="__main__")
"""


class Environment:
    """A virtual environment of its own, with nothing on the path but what is given."""

    def __init__(self, place: Path, compiler: bool) -> None:
        self.place, self.python = place, str(place / "bin" / "python")
        path = [str(place / "bin"), *(["/usr/bin", "/bin"] if compiler else [])]
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        home = {"HOME": str(place), "OMP_NUM_THREADS": "1", "LANG": "C.UTF-8"}
        self.variables = kept | home | {"PATH": os.pathsep.join(path)}

    def run(self, *command: str, **more: str) -> str:
        """Run a command there, and return what it prints."""
        done = subprocess.run(
            [str(self.place / "bin" / command[0]), *command[1:]],
            env=self.variables | more,
            cwd=self.place,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def install(self, *what: str) -> None:
        """Install something, of the versions that the tests use."""
        self.run("pip", "install", "--quiet", "--constraint", str(CONSTRAINTS), *what)

    def status(self, **more: str) -> str:
        """Which form of the kernels runs."""
        script = "from tpr_rnn.memory import native; print(native.status())"
        return self.run("python", "-c", script, **more)

    def try_commands(self, **more: str) -> str:
        """Ask the bundled model, and train another; returns the answer."""
        (self.place / "story.txt").write_text(STORY)
        question = ("--story", "story.txt", "--question", "Where is Mary?", "--json")
        answer = json.loads(self.run("tpr-rnn", "ask", *question, **more))["answer"]
        run = str(self.place / "run")
        shutil.rmtree(run, ignore_errors=True)
        short = ("--quick", "--out", run)
        self.run("tpr-rnn", "train", "--task", "1", *short, **more)
        asked = json.loads(self.run("tpr-rnn", "ask", run, *question, **more))
        expect(len(asked["answers"]) == 5, f"{asked}")
        return str(answer)


def expect(true: bool, found: str) -> None:
    """Stop where something is not as it should be."""
    if not true:
        raise SystemExit(f"try_dist: {found}")


def try_wheel(wheel: Path, place: Path) -> None:
    """Without a compiler: prebuilt kernels; and plain PyTorch where they are switched off."""
    there = Environment(place, compiler=False)
    there.install(str(wheel))
    status = there.status()
    expect("prebuilt" in status, status)
    print(f"{wheel.name}, no compiler: {status}; Mary is in the {there.try_commands()}")
    for level in there.run("python", "-c", LEVELS).split():
        status = there.run("python", "-c", AS_LEVEL, level, str(IS_PREBUILT))
        expect(level in status, status)
        print(f"  {status}: the same as step by step")
    off = {"TPR_RNN_NATIVE": "0"}
    print(f"  {there.status(**off)}; Mary is in the {there.try_commands(**off)}")


def try_sdist(sdist: Path, place: Path) -> None:
    """With a compiler, which is used on first use; and plain PyTorch without one."""
    there = Environment(place, compiler=True)
    there.install("--force-reinstall", "--no-deps", str(sdist))
    status = there.status()
    expect("compiled on first use" in status, status)
    print(f"{sdist.name}: {status}; Mary is in the {there.try_commands()}")
    bare = {"PATH": str(place / "bin"), "XDG_CACHE_HOME": str(place / "empty")}
    print(f"  {there.status(**bare)}; Mary is in the {there.try_commands(**bare)}")


def main(directory: Path) -> None:
    """Try the one wheel and the one sdist of a directory."""
    (wheel,), (sdist,) = directory.glob("*.whl"), directory.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        try_wheel(wheel.resolve(), Path(place))
        try_sdist(sdist.resolve(), Path(place))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
