"""How many mutants do the tests kill? Small faults, one at a time, in memory/, training/ and data/.

    python -m benchmarks.mutants [memory training data] [--sample 150] [--seed 0] [--out FILE.jsonl]

A mutant is the package with one change: a comparison or an arithmetic operator exchanged, a
constant changed, a condition negated, a return value dropped, a statement deleted. It is *killed*
if the tests of its folder fail or take too long with it. One that survives is a fault that no test
would notice, or *equivalent*: the change makes no difference. Those are listed, each with the
reason, in `equivalent_mutants.toml`. They are tried in random order: after Ctrl-C it says what came
of those that it has tried.

Tools of this kind (mutmut, cosmic-ray) wrap each function in a switch between its mutants, which
neither the run-time check of shapes nor `torch.compile` can look through. So here every mutant is a
copy of the package in a directory of its own.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy  # noqa: F401  (a child need not load these again)
import pytest
import torch
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tpr_rnn"
FOLDERS = ("memory", "training", "data")
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
OPTIONS = ("-x", "-q", "-m", "not slow", "-p", "no:cacheprovider")
CHECKED = (*OPTIONS, "-p", "jaxtyping")
UNCHECKED = (*OPTIONS, "-o", "addopts=--import-mode=importlib")
"""Without the check of shapes at run time, which takes a second to begin."""
PATIENCE = 30
"""Seconds of a processor that no test takes which is not marked slow."""
SLEEPY = 30
"""So many times as long on the clock, for the processor may have other work."""

SWAPPED: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*",
    ast.Pow: "*", ast.MatMult: "*", ast.LShift: ">>", ast.RShift: "<<",
    ast.BitAnd: "|", ast.BitOr: "&", ast.And: "or", ast.Or: "and",
}  # fmt: skip

WRITTEN: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change to one file."""

    file: str
    """Below the package."""
    line: int
    source: str
    """The line that it changes."""
    change: str
    """What becomes of which text."""
    start: int
    end: int
    new: str
    """The text from start to end of the file becomes this."""

    def apply(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """All mutants of a Python file."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def mutant(node: ast.expr | ast.stmt, new: str) -> Mutant:
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        old = " ".join(text[start:end].split())
        change = f"{old} -> {' '.join(new.split())}"
        return Mutant(file, node.lineno, lines[node.lineno - 1].strip(), change, start, end, new)

    def code(node: ast.expr) -> str:
        return ast.get_source_segment(text, node) or ""

    for node in _executed(ast.parse(text)):
        match node:
            case ast.Compare(ops=operators):
                for number in range(len(operators)):
                    yield mutant(node, _compared(node, number, code))
            case ast.BinOp(left, operator, right):
                yield mutant(node, f"({code(left)} {SWAPPED[type(operator)]} {code(right)})")
            case ast.BoolOp(operator, values):
                sign = f" {SWAPPED[type(operator)]} "
                yield mutant(node, f"({sign.join(f'({code(value)})' for value in values)})")
            case ast.UnaryOp(ast.Not() | ast.USub(), operand):
                yield mutant(node, f"({code(operand)})")
            case ast.Constant(bool(value)):
                yield mutant(node, str(not value))
            case ast.Constant(int() | float()):
                yield mutant(node, f"({code(node)} + 1)")
            case ast.Constant(str(value)) if value:
                yield mutant(node, repr(f"{value}?"))
            case ast.If(test) | ast.While(test) | ast.IfExp(test) if not _is_negated(test):
                yield mutant(test, f"(not ({code(test)}))")
            case ast.comprehension(ifs=tests):
                for test in tests:
                    if not _is_negated(test):
                        yield mutant(test, f"(not ({code(test)}))")
            case ast.Return(value) if value is not None and not _is_none(value):
                yield mutant(value, "None")
            case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Break():
                yield mutant(node, "pass")
            case ast.Continue() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield mutant(node, "pass")


def _compared(node: ast.Compare, swapped: int, code: Callable[[ast.expr], str]) -> str:
    """A comparison with one of its operators swapped."""
    text = code(node.left)
    for number, (operator, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        signs = SWAPPED if number == swapped else WRITTEN
        text += f" {signs[type(operator)]} {code(right)}"
    return f"({text})"


def _is_negated(test: ast.expr) -> bool:
    """Whether another mutant of a condition is its opposite already."""
    match test:
        case ast.UnaryOp(ast.Not()):
            return True
        case ast.Compare(ops=[operator]):
            return not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All that is executed and can matter: no types, no docstrings, no words of an error."""
    match node:
        case ast.Expr(ast.Constant()) | ast.JoinedStr() | ast.Assert():
            return
        case ast.Assign(targets=[ast.Name(name)]) if name == "__all__" or name.istitle():
            return  # the latter: a name for a type
        case ast.FunctionDef(decorator_list=[ast.Name("overload")]):
            return
        case ast.Raise():
            yield node
            return
    yield node
    for name, field in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _executed(child)


class Trial:
    """Runs the tests of a folder on copies of the package, one mutant at a time."""

    def __init__(self, folder: str, directory: Path) -> None:
        self.folder, self.directory = folder, directory
        self._told = directory / "told.txt"
        copied = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE, directory / "tpr_rnn", ignore=copied)
        self.tests = sorted((ROOT / "tests" / folder).rglob("test_*.py"))
        if not self._passes(self.tests, CHECKED):
            said = "\n".join(self._told.read_text("utf-8").splitlines()[-20:])
            raise SystemExit(f"the tests of {folder} fail without any mutant:\n{said}")

    def kills(self, mutant: Mutant) -> bool:
        """Whether the tests notice it; those that know of its file are asked first, quickly."""
        path = self.directory / "tpr_rnn" / mutant.file
        text = path.read_text("utf-8")
        first = [test for test in self.tests if knows_of(test, mutant.file)]
        try:
            path.write_text(mutant.apply(text), "utf-8")
            steps = ((first, UNCHECKED), (self.tests, CHECKED))
            return any(not self._passes(*step) for step in steps if step[0])
        finally:
            path.write_text(text, "utf-8")

    def _passes(self, tests: Sequence[Path], options: Sequence[str]) -> bool:
        """Whether tests pass. The child has all libraries already, and no part of the package."""
        child = os.fork()
        if child == 0:
            told = os.open(self._told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(told, 1)
            os.dup2(told, 2)
            limit_time()  # that of reading the tests
            sys.path.insert(0, str(self.directory))
            sys.dont_write_bytecode = True
            os.environ |= {"PYTHONPATH": str(self.directory), "PYTHONDONTWRITEBYTECODE": "1"}
            ended = pytest.main([*options, *map(str, tests)], plugins=[Patience()])
            os._exit(ended not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED})
        return os.waitpid(child, 0)[1] == 0


class Patience:
    """Gives each test as much time as it may take."""

    def pytest_runtest_setup(self) -> None:
        limit_time()


def limit_time() -> None:
    """End this process where nothing new has begun for too long."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(SLEEPY * PATIENCE)


def knows_of(test: Path, file: str) -> bool:
    """Whether a file of tests is named after a file of the package, or imports it or its room."""
    module = Path(file).with_suffix("")
    if module.stem == "__init__":
        module = module.parent
    rooms = [module, *(room for room in module.parents if len(room.parts) > 1)]
    imported = "|".join(r"\.".join(("tpr_rnn", *room.parts)) for room in rooms)
    known = re.search(rf"\b({imported})\b", test.read_text("utf-8"))
    return module.stem in test.stem or known is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER")
    parser.add_argument("--sample", type=int, metavar="N", help="so many at random; else all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, metavar="FILE.jsonl", help="add a line with the rest")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # A busy machine is no fault of the tests; and the same mutant has the same fate again.
    settings.register_profile(
        "mutants", deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    settings.load_profile("mutants")
    os.chdir(ROOT)
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": "1"}
    sys.path[:] = [path for path in sys.path if not (Path(path) / "tpr_rnn").exists()]
    mutants = [
        mutant
        for folder in options.folders
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for mutant in mutants_of(str(path.relative_to(PACKAGE)), path.read_text("utf-8"))
    ]
    there = len(mutants)
    random.Random(options.seed).shuffle(mutants)  # what is broken off is a sample all the same
    mutants = mutants[: options.sample]
    reasons = known_equivalents()
    killed, equivalent, survivors = 0, [], []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack, suppress(KeyboardInterrupt):
        trials: dict[str, Trial] = {}
        for number, mutant in enumerate(mutants, start=1):
            print(f"{number} of {len(mutants)}", file=sys.stderr, flush=True)
            reason = reasons.get((mutant.file, mutant.source, mutant.change))
            if reason is not None:
                equivalent.append(_shown(mutant) | {"reason": reason})
                continue
            folder = mutant.file.split("/")[0]
            if folder not in trials:
                place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                trials[folder] = Trial(folder, place)
            if trials[folder].kills(mutant):
                killed += 1
            else:
                survivors.append(_shown(mutant))
                print(f"survived: {mutant.file}:{mutant.line}: {mutant.change}", flush=True)
    tried = killed + len(equivalent) + len(survivors)
    rate = (killed + len(equivalent)) / max(tried, 1)
    found = {
        "folders": list(options.folders),
        "mutants": there,
        "seed": options.seed,
        "tried": tried,
        "killed": killed,
        "killed_or_equivalent": round(rate, 4),
        "equivalent": equivalent,
        "survivors": survivors,
    }
    if options.out:
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
    print(
        f"{tried} of {there} mutants: {killed} killed, {len(equivalent)} equivalent, "
        f"{len(survivors)} survived; killed or equivalent: {rate:.1%}"
    )
    return 0


def known_equivalents() -> dict[tuple[str, str, str], str]:
    """The reasons why mutants make no difference, by file, line of code and change."""
    listed = tomllib.loads(EQUIVALENT.read_text("utf-8")).get("mutant", [])
    return {(each["file"], each["source"], each["change"]): each["reason"] for each in listed}


def _shown(mutant: Mutant) -> dict[str, object]:
    shown = asdict(mutant)
    return {name: shown[name] for name in ("file", "line", "source", "change")}


if __name__ == "__main__":
    sys.exit(main())
