"""The page about what the representations of a model hold: see `analysis.representations`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_representations(report: Mapping[str, Any], out: Path) -> None:
    """Write the numbers of an analysis, for programs (report.json) and for people (report.md)."""
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    (out / "report.md").write_text(representations_page(report), "utf-8")


def representations_page(report: Mapping[str, Any]) -> str:
    """The numbers as tables in Markdown."""
    lines = [
        "# What the representations hold",
        "",
        f"Stories of {_tasks(report['tasks'])}: {report['data']}, {report['split']}.",
        "",
        "Clusters are of one direction (average linkage, mean cosine at least 0.71). *within*:",
        "mean cosine of a vector with the middle of its cluster; *between*: mean |cosine| of two",
        "middles, 0 if the clusters are orthogonal. The other columns: adjusted mutual information",
        "of the clusters with what the texts say; 1 is the same division, 0 is chance.",
    ]
    if report.get("unit") == "word":
        lines += [
            "The model reads words. Each text is read by itself; its vectors are those after its",
            "last word. Explanations name words, which count here for their sentences.",
        ]
    for kind in ("sentences", "questions"):
        lines += ["", *_table(kind, report[kind])]
    return "\n".join([*lines, "", *_faithfulness(report["faithfulness"])]) + "\n"


def _tasks(names: Sequence[str]) -> str:
    return f"task {names[0]}" if len(names) == 1 else f"{len(names)} tasks"


def _table(kind: str, measured: Mapping[str, Any]) -> list[str]:
    represented = measured["representations"]
    known = dict.fromkeys(
        aspect for numbers in represented.values() for aspect in numbers["agreement"]
    )
    head = ["", "clusters", "within", "between", *known]
    rows = [
        f"## {measured['texts']} different {kind}",
        "",
        f"{measured['understood']} of them were understood.",
        "",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
    ]
    for name, numbers in represented.items():
        agreements = numbers["agreement"]
        best = max(agreements.values(), default=None)
        cells = [name, str(numbers["clusters"]), _number(numbers["cosine_within"])]
        cells.append(_number(numbers["cosine_between"]))
        for aspect in known:
            text = _number(agreements.get(aspect))
            cells.append(f"**{text}**" if agreements.get(aspect) == best else text)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _faithfulness(measured: Mapping[str, Any]) -> list[str]:
    named, right = measured["named"], measured["named_rightly"]
    return [
        "## Names and explanations",
        "",
        f"{measured['questions']} questions were traced. A name is right if it has the word whose",
        "exchange for another, as the data have it, turns the vector most.",
        "",
        "| | named | of these rightly |",
        "|---|---|---|",
        *(f"| {name} | {_share(named[name])} | {_share(right.get(name))} |" for name in named),
        "",
        *_explanations(measured),
    ]


def _explanations(measured: Mapping[str, Any]) -> list[str]:
    """What the sentences are worth that explanations name."""
    by_task = measured.get("explanations")  # a page of version 0.1 has none
    if not by_task:
        return []
    rows = [*by_task.items(), ("mean", measured["explanations_mean"])]
    keys = ("precision", "recall", "missed", "needed", "enough")
    return [
        "",
        "The sentences that the explanations of right answers name, against the supporting ones:",
        "how many of them support (precision), and how many supporting ones are named (recall).",
        "*missed*: named sentences without which, one at a time, the answer changes, or loses",
        "half of its probability; *needed*: answers that do so without all of them; *enough*:",
        "answers that stay the same with these sentences alone.",
        "",
        "| task | right answers | precision | recall | missed | needed | enough |",
        "|---" * (2 + len(keys)) + "|",
        *(
            f"| {task} | {row.get('answers', '-')} | "
            + " | ".join(_share(row[key]) for key in keys)
            + " |"
            for task, row in rows
        ),
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
