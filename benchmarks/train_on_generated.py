"""The proof that counts for generated stories: train on them, test on the official ones.

    python -m benchmarks.train_on_generated --data DIR [--workers 2] [--out FILE]

For every task the `single` preset is trained twice, on generated stories alone and on the official
training file, and both models are scored on the official test file. Runs live in `--runs`, are
skipped when finished and go on when interrupted; those on the official files are the same runs as
those of `tpr-rnn sweep single-task`, in the same place. Their records go to the file `--out`, and
`tpr-rnn report FILE` makes the table.
"""

import argparse
import sys
from pathlib import Path

from msgspec import structs

from tpr_rnn.data.corpus import load_corpus, survey
from tpr_rnn.data.dataset import GENERATED
from tpr_rnn.data.simulator import TASK_TITLES
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.probes import Evaluator
from tpr_rnn.evaluation.provenance import now
from tpr_rnn.evaluation.record import FinalErrors, RunRecord, encode_record
from tpr_rnn.evaluation.scoring import percent, task_errors
from tpr_rnn.experiments.grid import Job
from tpr_rnn.experiments.launcher import launch
from tpr_rnn.experiments.local import LocalProcesses
from tpr_rnn.experiments.worker import Failed, Finished
from tpr_rnn.files import write_atomically
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run_config import RunConfig

TASKS = tuple(TASK_TITLES)
OFFICIAL = "official"
RECORDS = Path("results/records/train-on-generated.jsonl")
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
            )
            jobs[task, source] = Job(config, place)
    return jobs


def _lacks_training_file(data: Path, task: str) -> bool:
    try:
        survey(data, task, ["train"], substitute=False)
    except UserError:
        return True
    return False


def official_test(job: Job, data: Path, record: RunRecord) -> RunRecord:
    """The record with the errors on the official test file, whatever it was trained on."""
    corpus = load_corpus(data, job.config.task, ["test"])
    caps = corpus.max_sentences(job.config.settings.recipe.max_sentences)
    scores = Evaluator(Reader.load(job.directory), caps).scores(corpus.split("test"))
    errors = FinalErrors(
        error=percent(scores.error),
        per_task=task_errors(scores),
        when=now(),
        command="python -m benchmarks.train_on_generated",
    )
    return structs.replace(record, test=errors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the official en-valid-10k")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument(
        "--out", type=Path, default=Path("results/records/train-on-generated.jsonl")
    )
    options = parser.parse_args()
    try:
        jobs = make_jobs(options.data, options.runs, options.seed)
        where = {job.directory: key for key, job in jobs.items()}
        records = {}
        for event in launch(list(jobs.values()), LocalProcesses(options.workers)):
            task, source = where[event.job.directory]
            if isinstance(event, Failed):
                print(f"task {task}, {source}: failed: {event.problem}", file=sys.stderr)
            if not isinstance(event, Finished):
                continue
            record = official_test(event.job, options.data, event.record)
            records[task, source] = structs.replace(
                record, experiment="train-on-generated", variant=source
            )
            print(
                f"{len(records)}/{len(jobs)}  task {task}, {source}: {record.test.error:.1f} % on "
                f"the official test file, {record.seconds:.0f} s",
                flush=True,
            )
        lines = [encode_record(records[key]) + b"\n" for key in jobs if key in records]
        write_atomically(options.out, b"".join(lines))
        print(f"{options.out}: {len(records)} records; next: tpr-rnn report {options.out}")
    except UserError as error:
        print(f"train_on_generated: {error}", file=sys.stderr)
        return 2
    return 0 if len(records) == len(jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
