"""What does it take to lose or to falsify a run? Kills, full disks, damaged files.

    make torture
    python -m benchmarks.torture [--kills 100] [--files 2000] [--seed 0] [--out FILE.md]

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
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from benchmarks.torture_files import damage, full_disk, read_only, two_at_once  # noqa: E402
from benchmarks.torture_kills import kill_launchers, kill_ranks, kill_workers  # noqa: E402
from benchmarks.torture_runs import KINDS, Result, Undisturbed  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)  # threads of torch do not survive a fork
    chance, begun = random.Random(options.seed), time.monotonic()
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as name:
        runs = Undisturbed(Path(name))

        def note(result: Result) -> None:
            results.append(result)
            print(result.row(), file=sys.stderr, flush=True)

        launchers = options.kills * 15 // 100
        ranks = options.kills * 10 // 100
        workers = options.kills - 2 * launchers - ranks
        for number, kind in enumerate(KINDS):
            share = (workers + number) // len(KINDS)
            note(kill_workers(runs, kind, share, chance))
        note(kill_launchers(runs, launchers, chance, whom="launcher"))
        note(kill_launchers(runs, launchers, chance, whom="worker"))
        note(kill_ranks(runs, ranks, chance))
        for result in full_disk(runs, chance):
            note(result)
        note(read_only(runs))
        note(two_at_once(runs, chance))
        for result in damage(runs, options.files, options.seed):
            note(result)
    minutes = (time.monotonic() - begun) / 60
    text = _table(results, options, minutes)
    print(text, end="")
    if options.out:
        options.out.write_text(text)
    sys.exit(any(result.wrong for result in results))


def _table(results: list[Result], options: argparse.Namespace, minutes: float) -> str:
    chosen = f"--kills {options.kills} --files {options.files} --seed {options.seed}"
    lines = [f"`python -m benchmarks.torture {chosen}`, {minutes:.0f} minutes", ""]
    lines += ["| trial | tried | survived | wrong | |", "|---|---:|---:|---:|---|"]
    lines += [result.row() for result in results]
    wrong = [f"* {result.trial}: {what}" for result in results for what in result.wrong]
    return "\n".join([*lines, *([""] if wrong else []), *wrong]) + "\n"


if __name__ == "__main__":
    main()
