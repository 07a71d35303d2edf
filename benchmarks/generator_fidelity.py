"""How like the official stories are the generated ones?

    python -m benchmarks.generator_fidelity --data DIR [--out results/generator-fidelity]

compares 10,000 generated questions of every task (and the 1,000 of its test set) with all stories
of that task in DIR, an official directory such as en-valid-10k, and writes a table (OUT.md) and a
record with all numbers and lists (OUT.json).
"""

import argparse
import hashlib
import json
import math
import platform
import random
import sys
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tpr_rnn
from tpr_rnn.data.babi.directory import find_files
from tpr_rnn.data.babi.format import read_stories
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.data.story import Story
from tpr_rnn.errors import UserError

SEED = 0
QUESTIONS = 10_000
HALVINGS = 20
OTHER_SEEDS = range(1, 10)
ASKED = 0.05
KINDS = ("sentences", "questions", "answers")
SIDES = ("only_official", "only_generated")
DISTANCES = (
    "answers",
    "length",
    "length by tens",
    "supports",
    "first support",
    "questions a story",
)


class Difference(NamedTuple):
    """What only one of two sides says: how many different things, and how often."""

    types: int
    only: list[str]
    only_share: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with official files")
    parser.add_argument("--out", type=Path, default=Path("results/generator-fidelity"))
    options = parser.parse_args(arguments)
    try:
        record = compare_all(options.data)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")
    options.out.with_suffix(".md").write_text(as_markdown(record))
    print(as_markdown(record))
    return 0


def compare_all(directory: Path) -> dict[str, Any]:
    files = {task: paths for task, paths in find_files(directory).items() if task in TASK_TITLES}
    if not files:
        raise UserError(f"{directory}: no files of the tasks 1 to {len(TASK_TITLES)}")
    return {
        "command": f"python -m benchmarks.generator_fidelity --data {directory.resolve().name}",
        "data": directory.resolve().name,
        "data_sha256": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for paths in files.values()
            for path in paths.values()
        },
        "seed": SEED,
        "questions": QUESTIONS,
        "versions": {"python": platform.python_version(), "tpr_rnn": tpr_rnn.__version__},
        "tasks": {task: compare(task, paths) for task, paths in files.items()},
    }


def compare(task: str, paths: dict[str, Path]) -> dict[str, Any]:
    print(f"task {task} ...", file=sys.stderr, flush=True)
    # Some official stories stand in two files (those of task 4 most of all); each counts there.
    official = [story for path in paths.values() for story in read_stories(path)]
    started = time.perf_counter()
    splits = generate(task, questions=QUESTIONS, seed=SEED)
    seconds = time.perf_counter() - started
    generated = [story for stories in splits.values() for story in stories]
    differences = {
        kind: {
            "only_official": difference(said(official, kind), said(generated, kind))._asdict(),
            "only_generated": difference(said(generated, kind), said(official, kind))._asdict(),
        }
        for kind in KINDS
    }
    missed = {kind: differences[kind]["only_official"]["only"] for kind in KINDS}
    return {
        "name": TASK_TITLES[task],
        "files": sorted(paths),
        "stories": {"official": len(official), "generated": len(generated)},
        "differences": differences,
        "told_with_other_seeds": told_with_other_seeds(task, missed),
        "distances": {
            feature: {
                "official_generated": distance(official, generated, feature),
                "official_official": distance_within(official, feature, len(generated)),
            }
            for feature in DISTANCES
        },
        "mean_supports": {
            "official": mean(official, "supports"),
            "generated": mean(generated, "supports"),
        },
        "mean_questions_a_story": {
            "official": mean(official, "questions a story"),
            "generated": mean(generated, "questions a story"),
        },
        "seconds": round(seconds, 2),
    }


def said(stories: Iterable[Story], kind: str) -> Counter[str]:
    if kind == "sentences":
        return Counter(sentence for story in stories for sentence in story.sentences)
    questions = [question for story in stories for question in story.questions]
    if kind == "questions":
        return Counter(question.text for question in questions)
    return Counter(question.answer for question in questions)


def difference(one: Counter[str], other: Counter[str]) -> Difference:
    only = sorted(one.keys() - other.keys())
    return Difference(len(one), only, sum(one[text] for text in only) / one.total())


def told_with_other_seeds(task: str, missed: dict[str, list[str]]) -> dict[str, int]:
    """The first seed that generates what the seed of this comparison did not."""
    wanted = {(kind, text) for kind in KINDS for text in missed[kind]}
    seed_of: dict[str, int] = {}
    for seed in OTHER_SEEDS if wanted else ():
        splits = generate(task, questions=QUESTIONS, seed=seed)
        stories = [story for each in splits.values() for story in each]
        for kind, text in sorted(wanted):
            if text not in seed_of and said(stories, kind)[text]:
                seed_of[text] = seed
    return seed_of


def measured(stories: Iterable[Story], feature: str) -> Counter[Any]:
    """How often each value of a feature occurs."""
    if feature == "questions a story":
        return Counter(len(story.questions) for story in stories)
    questions = [question for story in stories for question in story.questions]
    if feature == "answers":
        return Counter(question.answer for question in questions)
    if feature == "length":
        return Counter(question.after for question in questions)
    if feature == "length by tens":
        return Counter(question.after // 10 for question in questions)
    if feature == "supports":
        return Counter(len(question.supports) for question in questions)
    # How many sentences before the question its first support stands.
    return Counter(question.after - question.supports[0] for question in questions)


def mean(stories: Iterable[Story], feature: str) -> float:
    counts = measured(stories, feature)
    return float(sum(value * count for value, count in counts.items()) / counts.total())


def total_variation(one: Counter[Hashable], other: Counter[Hashable]) -> float:
    shares = ((one[value] / one.total(), other[value] / other.total()) for value in {*one, *other})
    return sum(abs(a - b) for a, b in shares) / 2


def distance(one: Sequence[Story], other: Sequence[Story], feature: str) -> float:
    return total_variation(measured(one, feature), measured(other, feature))


def distance_within(official: Sequence[Story], feature: str, others: int) -> float:
    """The distance that chance alone would make between the official and `others` stories.

    Two random halves of the official stories differ by chance. The distance between them is larger
    than that between larger samples, by the square root of the ratio of 1/n + 1/m for their sizes.
    """
    rng = random.Random(SEED)
    half = len(official) // 2
    total = 0.0
    for _ in range(HALVINGS):
        shuffled = rng.sample(official, len(official))
        total += distance(shuffled[:half], shuffled[half:], feature)
    ratio = (1 / len(official) + 1 / others) / (1 / half + 1 / (len(official) - half))
    return total / HALVINGS * math.sqrt(ratio)


def as_markdown(record: dict[str, Any]) -> str:
    tasks = record["tasks"]
    lines = [
        "# How like the official stories are the generated ones?",
        "",
        f"`{record['command']}`, seed {record['seed']}: {record['questions']:,} generated "
        f"questions a task and 1,000 of its test set. tpr-rnn {record['versions']['tpr_rnn']}, "
        f"Python {record['versions']['python']}.",
        "",
        "## What only one side says",
        "",
        "Different sentences, questions and answers (official / generated), then how many of them "
        "stand on one side only and, in brackets, their share of all that is said there.",
        "",
        "| task | official files | sentences | only official | only generated "
        "| questions | only official | only generated "
        "| answers | only official | only generated |",
        "|---|---|" + "---|" * 9,
    ]
    for task, row in tasks.items():
        cells = [f"{task} {row['name']}", ", ".join(row["files"])]
        for kind in KINDS:
            one, other = (row["differences"][kind][side] for side in SIDES)
            cells.append(f"{one['types']} / {other['types']}")
            cells += [f"{len(side['only'])} ({side['only_share']:.2%})" for side in (one, other)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Distances",
        "",
        "Total-variation distance of official and generated distributions, and in brackets the "
        "distance that chance alone makes between samples of these sizes (from random halves of "
        "the official stories). Length: sentences before a question, also in steps of ten. "
        "First support: how far before the question it stands.",
        "",
        "| task | " + " | ".join(DISTANCES) + " | mean supports | mean questions a story | s |",
        "|---|" + "---|" * (len(DISTANCES) + 3),
    ]
    for task, row in tasks.items():
        cells = [f"{task} {row['name']}"]
        for feature in DISTANCES:
            values = row["distances"][feature]
            cells.append(f"{values['official_generated']:.3f} ({values['official_official']:.3f})")
        for what in ("mean_supports", "mean_questions_a_story"):
            cells.append(f"{row[what]['official']:.2f} / {row[what]['generated']:.2f}")
        lines.append("| " + " | ".join([*cells, f"{row['seconds']:.1f}"]) + " |")
    lines += [
        "",
        f"## Exceptions (said on one side only, or a distance above {ASKED})",
        "",
        *exceptions(tasks),
    ]
    return "\n".join(lines) + "\n"


def exceptions(tasks: dict[str, Any]) -> list[str]:
    listed = []
    for task, row in tasks.items():
        for kind in KINDS:
            for side in SIDES:
                for text in row["differences"][kind][side]["only"]:
                    seed = row["told_with_other_seeds"].get(text)
                    rare = f", but generated with seed {seed}" if seed is not None else ""
                    listed.append(f"- Task {task}, {kind}, {side.replace('_', ' ')}{rare}: {text}")
        for feature, values in row["distances"].items():
            if values["official_generated"] > ASKED:
                here, chance = values["official_generated"], values["official_official"]
                listed.append(
                    f"- Task {task}, distance of {feature}: {here:.3f}, where chance makes "
                    f"{chance:.3f} with {row['stories']['official']} official stories."
                )
    return listed or ["None."]


if __name__ == "__main__":
    sys.exit(main())
