"""Who is "he"? What models of all tasks take Bill, Fred and Julie for in task 11.

    python -m benchmarks.pronoun_probe RUN... --data DIR [--split test] [--out FILE.md]

With swapped names task 11 says "he" of Bill and Fred and "she" of Julie. In training nobody does:
no task that knows these three has a pronoun. For each run this shows which of the two each name is
nearer to, in the entity (e1 or e2) in which he and she differ most, beside the error on questions
about that name, and the swapped error with and without task 11.
"""

import argparse
import sys
import textwrap
from pathlib import Path

import torch
from torch.nn.functional import normalize

from tpr_rnn.data.babi.swapped_names import SWAPPED_NAMES
from tpr_rnn.data.encoding import encode
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import score
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.tpr_rnn import TPRRNN
from tpr_rnn.training.run_config import RunConfig, corpus_for

NAMES = ("Bill", "Fred", "Julie")
TASK = "11"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--data", required=True, type=Path, metavar="DIR")
    parser.add_argument("--split", choices=("valid", "test"), default="valid")
    parser.add_argument("--out", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    try:
        page = write_page(options.runs, options.data, options.split)
        print(page, end="")
        if options.out:
            options.out.write_text(page, encoding="utf-8")
    except (UserError, OSError) as error:
        print(f"pronoun_probe: {error}", file=sys.stderr)
        return 2
    return 0


def write_page(runs: list[Path], data: Path, split: str) -> str:
    """The table."""
    for run in runs:
        if RunConfig.of(run).task != "all":
            raise UserError(f"{run}: a model of one task; expected models of all tasks")
    stories = SWAPPED_NAMES.changed(corpus_for(runs[0], data, [split])[0].split(split))
    lines = [
        '# Who is "he"?',
        "",
        textwrap.fill(
            f"Swapped names, {split} stories. For each name: is its entity nearer to that of a "
            "sentence with he or with she (the difference of the two cosines), and the error in % "
            "on task 11's questions about it. Nothing in training says which it should be. Made "
            f"by `python -m benchmarks.pronoun_probe RUN... --data DIR --split {split}`.",
            120,
            break_on_hyphens=False,
        ),
        "",
        f"| run | {' | '.join(NAMES)} | task {TASK} | the other tasks |",
        "|---" * (len(NAMES) + 3) + "|",
    ]
    for run in runs:
        reader = Reader.load(run)
        taken = he_or_she(reader)
        errors = task_errors(reader, stories)
        asked = {
            name: task_errors(reader, {TASK: about(stories[TASK], name)})[TASK] for name in NAMES
        }
        cells = [
            f"{'he' if taken[name] > 0 else 'she'} ({taken[name]:+.2f}): {asked[name]:.0f} %"
            for name in NAMES
        ]
        others = [error for task, error in errors.items() if task != TASK]
        lines.append(
            f"| {run.name} | {' | '.join(cells)} | {errors[TASK]:.1f} "
            f"| {sum(others) / len(others):.2f} |"
        )
    return "\n".join(lines) + "\n"


def he_or_she(reader: Reader) -> dict[str, float]:
    """How much nearer a sentence about each name is to one about him than to one about her."""
    model = reader.model.eval()
    if not isinstance(model, TPRRNN):
        raise UserError("only a TPR-RNN has entities to compare")
    subjects = ["then he", "then she", *(name.lower() for name in NAMES)]
    numbers = [
        [reader.vocabulary.number(word) for word in tokenize(f"{subject} went to the kitchen")]
        for subject in subjects
    ]
    padded = [row + [0] * (model.config.max_words - len(row)) for row in numbers]
    with torch.no_grad():
        said = model.sentence_parts(torch.tensor(padded))
    alike = {}
    for entity in ("e1", "e2"):
        vectors = normalize(said[entity], dim=1)
        alike[entity] = vectors @ vectors.T
    cosines = min(alike.values(), key=lambda each: float(each[0, 1]))
    return {name: float(row[0] - row[1]) for name, row in zip(NAMES, cosines[2:], strict=True)}


def task_errors(reader: Reader, stories: dict[str, list[Story]]) -> dict[str, float]:
    """Errors in percent by task."""
    data = encode(stories, reader.vocabulary, reader.model.config.max_words)
    return score(reader.model, data, torch.device("cpu")).errors


def about(stories: list[Story], name: str) -> list[Story]:
    """The stories with their questions about one name alone."""
    return [
        story._replace(questions=kept)
        for story in stories
        if (kept := tuple(each for each in story.questions if name in each.text))
    ]


if __name__ == "__main__":
    sys.exit(main())
