"""The proof that counts for generated stories: train on them, test on the official ones.

    python -m benchmarks.train_on_generated --data DIR [--workers 2] [--out results/...]

For every task the `single` preset is trained twice, on generated stories alone and on the official
training file, and both models are scored on the official test file. Runs live in `--runs`, are
skipped when finished and go on when interrupted; those on the official files are the same runs as
those of `tpr-rnn sweep single-task`, in the same place. Records and the table go to `--out`.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tpr_rnn.data.corpus import GENERATED, load_corpus
from tpr_rnn.data.encoding import encode
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import score
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import launch
from tpr_rnn.experiments.worker import Failed, Finished
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run_config import RunConfig

TASKS = range(1, 21)
OFFICIAL = "official"
PLACES = {GENERATED: "train-on-generated", OFFICIAL: "single-task/single"}


def make_jobs(data: Path, runs: Path, seed: int) -> dict[tuple[int, str], Job]:
    jobs = {}
    for task in TASKS:
        for source in (GENERATED, OFFICIAL):
            if source == OFFICIAL and _lacks_training_file(data, task):
                continue
            place = runs / PLACES[source] / f"task-{task}" / f"seed-{seed}"
            config = RunConfig(
                task=task,
                seed=seed,
                preset="single",
                settings=preset("single"),
                data=str(data.resolve()) if source == OFFICIAL else None,
                substitute_missing=source == OFFICIAL,  # as in the sweep; here no file is missing
            )
            jobs[task, source] = Job(config, place, source)
    return jobs


def _lacks_training_file(data: Path, task: str) -> bool:
    try:
        load_corpus(data, task, ["train"])
    except UserError:
        return True
    return False


def official_test_error(run: Path, data: Path, task: str) -> float:
    reader = Reader.load(run)
    cap = preset("single").recipe.cap
    stories = load_corpus(data, task, ["test"]).split("test")
    encoded = encode(stories, reader.vocabulary, reader.model.config.max_words, cap)
    return round(score(reader.model, encoded).error, 4)


def write_table(records: dict[tuple[int, str], dict[str, Any]], seed: int, out: Path) -> str:
    lines = [
        "# Trained on generated stories, tested on the official ones",
        "",
        "`python -m benchmarks.train_on_generated --data en-valid-10k`, preset `single`, "
        f"seed {seed}: error in % on the official test files, after training on the official "
        "training file and after training on generated stories alone (validation too is on "
        "stories of the same source). The records of all runs are beside this file.",
        "",
        "| task | trained on official | trained on generated | difference |",
        "|---|---|---|---|",
    ]
    for task in TASKS:
        errors = {
            source: records[task, source]["official_test_error"]
            for source in (OFFICIAL, GENERATED)
            if (task, source) in records
        }
        official, generated = errors.get(OFFICIAL), errors.get(GENERATED)
        both = official is not None and generated is not None
        lines.append(
            f"| {task} | {_shown(official)} | {_shown(generated)} | "
            f"{f'{generated - official:+.1f}' if both else ''} |"
        )
    text = "\n".join(lines) + "\n"
    (out / "table.md").write_text(text, encoding="utf-8")
    return text


def _shown(error: float | None) -> str:
    return "no training file" if error is None else f"{error:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the official en-valid-10k")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--out", type=Path, default=Path("results/train-on-generated"))
    options = parser.parse_args()
    try:
        jobs = make_jobs(options.data, options.runs, options.seed)
        where = {job.directory: key for key, job in jobs.items()}
        records = {}
        for event in launch(list(jobs.values()), options.workers):
            task, source = where[event.job.directory]
            if isinstance(event, Failed):
                print(f"task {task}, {source}: failed: {event.problem}", file=sys.stderr)
            if not isinstance(event, Finished):
                continue
            error = official_test_error(event.job.directory, options.data, task)
            record = event.result | {"official_test_error": error}
            records[task, source] = record
            directory = options.out / source / f"task-{task}"
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "result.json").write_text(json.dumps(record, indent=2) + "\n")
            print(
                f"{len(records)}/{len(jobs)}  task {task}, {source}: {error:.1f} % on the official "
                f"test file, {record['seconds']:.0f} s",
                flush=True,
            )
        print("\n" + write_table(records, options.seed, options.out))
    except UserError as error:
        print(f"train_on_generated: {error}", file=sys.stderr)
        return 2
    return 0 if len(records) == len(jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
