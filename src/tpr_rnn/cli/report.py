"""`tpr-rnn report`: tables and figures from the records of runs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tpr_rnn.errors import UserError


def report(
    *directories: Annotated[Path, Parameter(help="Directories with runs in them.")],
    out: Annotated[
        Path | None, Parameter(help="Directory for the report; else `report` in the first one.")
    ] = None,
) -> int:
    """Write tables (Markdown, CSV, LaTeX) and figures of all runs below some directories."""
    from tpr_rnn.cli.console import Console
    from tpr_rnn.report.write import write_report

    if not directories:
        raise UserError("which runs? give one directory or more, such as runs/single-task")
    out = out or directories[0] / "report"
    written = write_report(directories, out)
    console = Console()
    for section in written.sections:
        console.print(f"{section.title}\n" + "\n".join(f"  {line}" for line in section.headlines))
    for path in written.left_out:
        console.print(f"left out, for it belongs to none of these experiments: {path}")
    for path, reason in written.without_record.items():
        console.print(f"left out, for {reason}: {path}")
    pages = ", ".join(path.name for path in written.files if path.suffix == ".md")
    console.print(f"Saved in {out}: {pages} and {len(written.files)} files in all")
    return 0
