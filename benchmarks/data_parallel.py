"""When do two processes that train one model pay? Steps of two processes, two threads, and one.

    python -m torch.distributed.run --nproc-per-node 2 -m benchmarks.data_parallel --data DIR

All tasks with the preset `all`, and task 3 with `single`. The three take turns, some steps each,
so that other work on the machine disturbs them alike; times are of one step, the median and the
fastest twentieth, which is nearest to what a machine with nothing else to do would show.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch

from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.evaluation.provenance import now, source, versions
from tpr_rnn.memory import native
from tpr_rnn.team import Team, leads
from tpr_rnn.training.events import Stepped
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig

CASES = {"all-tasks": ("all", "all"), "task-3": ("3", "single")}
WAYS = ("one process", "two threads", "two processes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=25, help="of each way in each round")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with Team.joined() as team:
        cases = {case: _measure(team, task, name, options) for case, (task, name) in CASES.items()}
    if not leads():
        return
    found = {
        "command": f"benchmarks.data_parallel --rounds {options.rounds} --steps {options.steps}",
        "when": now(),
        "commit": source().commit,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "kernel": native.status(),
        "versions": versions(),
        "cases": cases,
    }
    text = json.dumps(found, indent=2) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text)


def _measure(team: Team, task: str, name: str, options: argparse.Namespace) -> dict[str, object]:
    settings, data = preset(name), str(options.data.resolve())
    config = RunConfig(task=task, seed=0, preset=name, settings=settings, data=data)
    trainer = Run(config, Path("nowhere"), load_corpus(options.data, task, TRAINING)).trainer
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(options.rounds + 1):
        for way in WAYS:
            torch.set_num_threads(2 if way == "two threads" else 1)
            trainer.team = team if way == "two processes" else None
            if leads() or way == "two processes":
                taken = _steps(trainer, options.steps)
                times[way] += taken if turn else []  # the first round warms up
            team.copy([*trainer.tensors().values()])
            trainer.progress = team.tell(trainer.progress)
            trainer.optimizer.steps = trainer.progress.attempt_step
    if not leads():
        return {}
    found: dict[str, object] = {
        way: {
            "median_ms": round(1000 * float(np.median(taken)), 2),
            "fastest_twentieth_ms": round(1000 * float(np.quantile(taken, 0.05)), 2),
        }
        for way, taken in times.items()
    }
    for measure in ("median_ms", "fastest_twentieth_ms"):
        alone = found["one process"][measure]  # type: ignore[index]
        found[f"speedup_by_{measure.removesuffix('_ms')}"] = {
            way: round(alone / found[way][measure], 2)  # type: ignore[index]
            for way in WAYS[1:]
        }
    return found


def _steps(trainer, number: int) -> list[float]:
    """Seconds of so many training steps."""
    taken, before = [], time.perf_counter()
    for event in trainer.run():
        after = time.perf_counter()
        if isinstance(event, Stepped):
            taken.append(after - before)
        before = after
        if len(taken) == number:
            return taken
    raise AssertionError("the run is over")


if __name__ == "__main__":
    main()
