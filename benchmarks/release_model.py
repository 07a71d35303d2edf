"""Put the model of a finished run into the package, with its card.

    python -m benchmarks.release_model RUN

`tpr-rnn ask`, `evaluate`, `analyze` and `explore` use it where no run is named, and
`tpr_rnn.load_pretrained()` gives it to a program.
"""

import argparse
import json
import shutil
import sys
import textwrap
from pathlib import Path

from tpr_rnn import pretrained
from tpr_rnn.data.babi.swapped_names import SWAPPED
from tpr_rnn.data.simulator import TASK_TITLES
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.evaluation.wide import WIDE
from tpr_rnn.report.numbers import FAILED_ABOVE
from tpr_rnn.times import duration
from tpr_rnn.training.run_directory import RunDirectory

MOST_BYTES = 5_000_000
CARD = """\
# The bundled model

A TPR-RNN with {parameters:,} parameters, one for all 20 bAbI tasks (English, 10k) and for wide
stories ([docs/wide.md](../../../docs/wide.md)), the best of its run by validation error. `python -m
benchmarks.release_model RUN` put it here; `result.json` is its record.

{trained_on}
* **How**: seed {seed}, batches of {batch}, learning rate {rate:g}, {steps:,} steps in {time}
  of one core.
{official}
* **Wide questions**: {wide:.2f} % wrong (mean over kinds, below). Of the questions that nothing
  told answers {found:.2f} % get `unknown`, of all others {wrongly:.2f} %.
* **How sure it is** differs from how often it is right by {calibration:.2f} points on validation
  (expected calibration error), by {wide_calibration:.2f} on wide questions.
* **What it cannot do**: it knows the words of its stories, and in a story twenty new names, things
  and places each; sentences of up to {words} words, in bAbI's English; it reads the last
  {sentences} sentences of a story; it answers with one word, or a list of apple, football and milk.
  [docs/where-it-breaks.md](../../../docs/where-it-breaks.md) has more.

| task | valid error % | test error % |
|---|---|---|
{rows}

| kind of wide question | error % |
|---|---|
{kinds}
"""


def release(run: Path, place: Path) -> None:
    """Copy what `Reader.load` and `evaluate` need, without paths of this machine."""
    there = RunDirectory(run)
    if not there.finished:
        raise UserError(f"{run}: not a finished run; only one with a result can be released")
    size = there.model.stat().st_size
    if size > MOST_BYTES:
        raise UserError(f"{there.model}: {size:,} bytes; at most {MOST_BYTES:,} are allowed")
    config, record = there.config(), there.record()
    config["data"] = record.data
    shutil.copyfile(there.model, place / "model.safetensors")
    (place / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    RunDirectory(place).write_record(record)
    (place / "README.md").write_text(card(record), encoding="utf-8")


def card(record: RunRecord) -> str:
    """The model card, from the record of the run."""
    valid, test, calibration = record.valid.per_task, record.test, record.calibration
    swapped, wide = record.probes.get(SWAPPED), record.probes.get(WIDE)
    if test is None or swapped is None or swapped.plain_error is None:
        raise UserError("the test questions of the run are not scored; the card needs them")
    if wide is None or calibration is None:
        raise UserError("the wide questions are not scored (evaluate --wide); the card needs them")
    failed = [task for task, each in test.per_task.items() if each.error > FAILED_ABOVE]
    instead = [
        f"Task {task}: {part}."
        for task, said in record.substituted.items()
        for part in said.split("; ")
        if "generated stories more" not in part
    ]
    trained_on = (
        f"* **Trained on** {record.questions['train']:,} questions of `{record.data}` "
        f"(checksum {record.data_sha256[:16]}), those of official tasks with generated stories "
        f"more, which the record counts. {' '.join(instead)}"
    )
    rows = [
        f"| {task} {TASK_TITLES[task]} | {valid[task].error:.1f} | {each.error:.1f} |"
        for task, each in test.per_task.items()
    ]
    trust = f"No task is above {FAILED_ABOVE:g} %."
    if failed:
        trust = f"Above {FAILED_ABOVE:g} %, which counts as failed: task {', '.join(failed)}."
    on_valid = sum(valid[task].error for task in test.per_task) / len(test.per_task)
    official = (
        f"* **Official tasks**: {test.error:.2f} % wrong on the official test files (mean over "
        f"tasks), {on_valid:.2f} % on validation. {trust} With names that are new to a task "
        f"(swapped names, twelve tasks) {swapped.error:.2f} % instead of "
        f"{swapped.plain_error:.2f} %."
    )
    settings = record.settings
    return CARD.format(
        parameters=record.parameters,
        trained_on=textwrap.fill(trained_on, 100, subsequent_indent="  "),
        official=textwrap.fill(official, 100, subsequent_indent="  "),
        seed=record.seed,
        batch=settings.recipe["batch_size"],
        rate=settings.recipe["learning_rate"],
        steps=record.steps,
        time=duration(record.cpu_seconds),
        wide=wide.error,
        found=wide.measures["unknown_found"],
        wrongly=wide.measures["unknown_wrongly"],
        calibration=calibration.error,
        wide_calibration=wide.measures["calibration_error"],
        sentences=settings.recipe["max_sentences"],
        words=settings.model["max_words"],
        rows="\n".join(rows),
        kinds="\n".join(f"| {kind} | {each.error:.1f} |" for kind, each in wide.per_part.items()),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("run", type=Path, help="a finished run on all tasks")
    options = parser.parse_args()
    try:
        release(options.run, pretrained.DIRECTORY)
    except UserError as error:
        print(f"release_model: {error}", file=sys.stderr)
        return 2
    print(f"{pretrained.DIRECTORY}: the model of {options.run}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
