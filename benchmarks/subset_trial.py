"""Some tasks alone in the model of all tasks: a trial that takes a minute instead of half an hour.

    python -m benchmarks.subset_trial --data DIR --tasks 17 --seed 0 --set learning_rate=0.003

The model has the sizes that it has for all tasks, vocabulary and words of a sentence included; it
is scored on validation questions only, as they are and with swapped names (of tasks that have
names to swap). Each trial adds a line to --out (runs/subset-trials.csv).
"""

import argparse
import csv
import sys
import time
from pathlib import Path

import torch

from tpr_rnn.cli.options import parse_settings
from tpr_rnn.data.babi.swapped_names import SWAPPED_NAMES
from tpr_rnn.data.corpus import load_corpus
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Story
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import Scores, score
from tpr_rnn.training.events import Evaluated
from tpr_rnn.training.presets import preset
from tpr_rnn.training.trainer import Trainer

LENGTH = {"epochs": "500", "decay_epochs": "100", "attempts": "1", "accept_below": "none"}
"""Few tasks have short epochs; --set can say otherwise."""
OUT = Path("runs/subset-trials.csv")
HEADINGS = ("tasks", "changed", "seed", "learned_after_epochs", "best_valid_error")
LAST = ("last_valid_errors_by_task", "cpu_seconds", "swapped_names_errors_by_task")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", required=True, type=Path, metavar="DIR")
    parser.add_argument("--tasks", required=True, help="such as 16,17")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE.csv")
    options = parser.parse_args()
    try:
        line = trial(options.data, options.tasks.split(","), options.seed, tuple(options.set))
    except UserError as error:
        print(f"subset_trial: {error}", file=sys.stderr)
        return 2
    append(options.out, line)
    print(dict(zip(HEADINGS + LAST, line, strict=True)))
    return 0


def trial(data: Path, tasks: list[str], seed: int, changes: tuple[str, ...]) -> tuple[object, ...]:
    """Train, and say what came of it."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    settings = preset("all").with_settings(LENGTH | parse_settings(changes))
    everything = load_corpus(data, "all")
    vocabulary = build_vocabulary(everything.all_stories())
    words = longest_sentence(everything.all_stories())

    chosen = [task for task in everything.stories if task in tasks]
    if len(chosen) < len(tasks):
        raise UserError(f"--tasks {','.join(tasks)}: expected tasks of {data}, such as 16,17")

    def some(split: str) -> dict[int, list[Story]]:
        return {task: everything.split(split)[task] for task in chosen}

    cap = everything.data_set.max_sentences(tasks, settings.recipe.max_sentences)
    trainer = Trainer(
        settings.config(vocabulary_size=len(vocabulary), max_words=words),
        settings.recipe,
        train=encode(some("train"), vocabulary, words, cap),
        valid=encode(some("valid"), vocabulary, words, cap),
        seed=seed,
    )
    start, last = time.process_time(), Scores(0.0, {}, {})
    for event in trainer.run():
        if isinstance(event, Evaluated):
            last = event.valid
    cpu_seconds = round(time.process_time() - start)
    learned = trainer.progress.decay_start
    swapped = SWAPPED_NAMES.changed(some("valid"))
    return (
        " ".join(tasks),
        " ".join(changes),
        seed,
        "" if learned is None else learned // trainer.steps_per_epoch,
        round(trainer.progress.best[0], 2),
        by_task(last),
        cpu_seconds,
        by_task(score(trainer.model, encode(swapped, vocabulary, words, cap), trainer.device))
        if swapped
        else "",
    )


def by_task(scores: Scores) -> str:
    return " ".join(f"{task}:{error:.1f}" for task, error in scores.errors.items())


def append(path: Path, line: tuple[object, ...]) -> None:
    """Add a line to a table, which begins with its headings."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(HEADINGS + LAST)
        writer.writerow(line)


if __name__ == "__main__":
    sys.exit(main())
