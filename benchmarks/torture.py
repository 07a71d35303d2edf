"""What does it take to lose or to falsify a run? Kills, full disks, damaged files.

    make torture
    python -m benchmarks.torture [runs sweeps ranks disks files] [--kills 100] [--files 2000]

Every trial is compared with a run that nobody disturbed: the same weights, bit for bit, the same
record and the same curve, or it is *wrong*. A kill may cost the last ten seconds of training and
no more; damage must be noticed. The runs are tiny, and of every kind: one task, several at once,
several attempts, word by word. The table says how many were tried, survived, and were wrong.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from benchmarks.torture_files import damage, full_disk, read_only, two_at_once  # noqa: E402
from benchmarks.torture_kills import kill_launchers, kill_ranks, kill_workers  # noqa: E402
from benchmarks.torture_runs import KINDS, Result, Undisturbed  # noqa: E402

TRIALS = ("runs", "sweeps", "ranks", "disks", "files")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trials", nargs="*", help=f"of {', '.join(TRIALS)}; none: all")
    parser.add_argument("--kills", type=int, default=100, help="of runs, sweeps and ranks in all")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if unknown := set(options.trials) - set(TRIALS):
        parser.error(f"there are no trials {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)  # threads of torch do not survive a fork
    results, begun = [], time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        for result in _trials(Undisturbed(Path(name)), options):
            results.append(result)
            print(result.row(), file=sys.stderr, flush=True)
    print(_table(results, options, (time.monotonic() - begun) / 60), end="")
    sys.exit(any(result.wrong for result in results))


def _trials(runs: Undisturbed, options: argparse.Namespace) -> Iterator[Result]:
    chosen, chance = options.trials or TRIALS, random.Random(options.seed)
    sweeps, ranks = options.kills * 15 // 100, options.kills * 10 // 100
    if "runs" in chosen:
        workers = options.kills - 2 * sweeps - ranks
        for number, kind in enumerate(KINDS):
            yield kill_workers(runs, kind, (workers + number) // len(KINDS), chance)
    if "sweeps" in chosen:
        yield kill_launchers(runs, sweeps, chance, whom="launcher")
        yield kill_launchers(runs, sweeps, chance, whom="worker")
    if "ranks" in chosen:
        yield kill_ranks(runs, ranks, chance)
    if "disks" in chosen:
        yield from full_disk(runs, chance)
        yield read_only(runs)
        yield two_at_once(runs, chance)
    if "files" in chosen:
        yield from damage(runs, options.files, options.seed)


def _table(results: list[Result], options: argparse.Namespace, minutes: float) -> str:
    chosen = [*options.trials, f"--kills {options.kills}", f"--files {options.files}"]
    command = " ".join(["python -m benchmarks.torture", *chosen, f"--seed {options.seed}"])
    lines = [f"`{command}`, {minutes:.0f} minutes", ""]
    lines += ["| trial | tried | survived | wrong | |", "|---|---:|---:|---:|---|"]
    lines += [result.row() for result in results]
    wrong = [f"* {result.trial}: {what}" for result in results for what in result.wrong[:5]]
    return "\n".join([*lines, *([""] if wrong else []), *wrong]) + "\n"


if __name__ == "__main__":
    main()
