"""`tpr-rnn report`: tables and figures from the records of runs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tpr_rnn.errors import UserError


def report(
    *places: Annotated[
        Path, Parameter(help="Directories with runs in them, or files of records (.jsonl).")
    ],
    baseline: Annotated[
        str | None,
        Parameter(
            help="Compare any runs with those of this name, on validation questions: a preset, "
            "or a preset and what was changed, such as 'single, inference_steps=4'."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Parameter(help="Directory for the report; else `report` in, or beside, the first one."),
    ] = None,
) -> int:
    """Write tables (Markdown, CSV, LaTeX) and figures from the records of runs."""
    from tpr_rnn.cli.console import Console
    from tpr_rnn.report.write import write_beside, write_report

    if not places:
        raise UserError(
            "which runs? give a directory such as runs/single-task, or a file such as "
            "results/records/single-task.jsonl"
        )
    first = places[0]
    out = out or (first if first.is_dir() else first.parent) / "report"
    written = write_report(places, out) if baseline is None else write_beside(places, baseline, out)
    console = Console()
    for section in written.sections:
        console.print(f"{section.title}\n" + "\n".join(f"  {line}" for line in section.headlines))
    for place, reason in written.left_out.items():
        console.print(f"left out, because {reason}: {place}")
    pages = ", ".join(path.name for path in written.files if path.suffix == ".md")
    console.print(f"Saved in {out}: {pages} and {len(written.files)} files in all")
    return 0
