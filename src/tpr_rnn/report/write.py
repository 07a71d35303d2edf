"""A report on disk: for each experiment a page with its tables and figures."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from tpr_rnn.errors import UserError
from tpr_rnn.pictures import pyplot, save_picture
from tpr_rnn.report.ablation import ablation
from tpr_rnn.report.all_tasks import all_tasks
from tpr_rnn.report.baseline import baseline_section
from tpr_rnn.report.compare import compare
from tpr_rnn.report.layer import layer
from tpr_rnn.report.recipe_ablation import recipe_ablation
from tpr_rnn.report.records import Record, read_records, read_trained
from tpr_rnn.report.section import Figure, Section
from tpr_rnn.report.single_task import single_task
from tpr_rnn.report.systematic import systematic
from tpr_rnn.report.table import Table
from tpr_rnn.report.train_on_generated import train_on_generated
from tpr_rnn.training.run_directory import FAILURE, RunDirectory

SECTIONS: Mapping[str, Callable[[Sequence[Record]], Section]] = MappingProxyType(
    {
        "single-task": single_task,
        "ablation": ablation,
        "all-tasks": partial(all_tasks, "all-tasks"),
        "random-names": partial(all_tasks, "random-names"),
        "recipe-ablation": recipe_ablation,
        "compare": partial(compare, "compare"),
        "word-level": partial(compare, "word-level"),
        "systematic": partial(systematic, "systematic"),
        "systematic-valid": partial(systematic, "systematic-valid"),
        "layer": layer,
        "train-on-generated": train_on_generated,
    }
)
"""What is shown of an experiment, by its name."""


@dataclass(frozen=True)
class Report:
    """What was written."""

    sections: Sequence[Section]
    files: Sequence[Path]
    left_out: Mapping[str, str]
    """Runs that are not shown, and why."""


def write_report(places: Sequence[Path], out: Path) -> Report:
    """Read the records of some files and directories, and write what they say.

    The same records give the same bytes again.
    """
    records, left_out = read_records(places)
    by_experiment: dict[str, list[Record]] = {}
    for record in records:
        by_experiment.setdefault(record.run.experiment, []).append(record)
        if record.run.experiment not in SECTIONS:
            left_out[record.place] = f"there is no report of '{record.run.experiment}'"
    sections = [
        make(by_experiment[name]) for name, make in SECTIONS.items() if name in by_experiment
    ]
    if not sections:
        reasons = "; ".join(f"{place}: {reason}" for place, reason in [*left_out.items()][:3])
        raise UserError(
            "nothing to report: no run has test errors (the last step of a sweep, or `tpr-rnn "
            f"evaluate RUN --split test`, scores them). {reasons}"
        )
    files = _write_all(sections, out)
    return Report(sections, files, left_out | _runs_without_record(places))


def write_beside(places: Sequence[Path], baseline: str, out: Path) -> Report:
    """The same of any runs beside those of a baseline, by its label."""
    section = baseline_section(read_trained(places), baseline)
    return Report([section], _write_all([section], out), _runs_without_record(places))


def _write_all(sections: Sequence[Section], out: Path) -> list[Path]:
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [path for section in sections for path in _write(section, out)]
    except OSError as error:
        raise UserError(f"{out}: cannot be written ({error.strerror})") from error


def _runs_without_record(places: Iterable[Path]) -> dict[str, str]:
    """Every run below some directories that has no record, and why."""
    reasons = {
        "config.json": "it is not finished",
        FAILURE: f"it ended in an error ({FAILURE} says which)",
    }
    found = {
        path.parent: reason
        for name, reason in reasons.items()
        for place in places
        if place.is_dir()
        for path in place.rglob(name)
    }
    return {str(path): found[path] for path in sorted(found) if not RunDirectory(path).finished}


def _write(section: Section, out: Path) -> list[Path]:
    plot = pyplot()
    page = [f"# {section.title}", "\n".join(f"- {line}" for line in section.headlines)]
    files = [out / f"{section.name}.md"]
    for part in section.parts:
        if isinstance(part, Table):
            page.append(part.markdown().rstrip("\n"))
            files.append(_write_text(out / f"{part.name}.csv", part.csv()))
            if part.in_paper:
                files.append(_write_text(out / f"{part.name}.tex", part.latex()))
        elif isinstance(part, Figure):
            figure = part.draw(plot)
            files.append(out / f"{part.name}.png")
            save_picture(figure, files[-1])
            plot.close(figure)
            page.append(f"![{part.name}]({part.name}.png)\n\n{part.caption}")
        else:
            page.append(part)
    _write_text(files[0], "\n".join(map(_wrapped, "\n\n".join(page).split("\n"))) + "\n")
    return files


def _wrapped(line: str) -> str:
    """A line of text in lines that fit an editor; a row of a table stays one."""
    if line.startswith("|"):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(
        line, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _write_text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
