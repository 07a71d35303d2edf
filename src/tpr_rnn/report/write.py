"""A report on disk: for each experiment a page with its tables and figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tpr_rnn.data.systematic import PLANS
from tpr_rnn.errors import UserError
from tpr_rnn.pictures import pyplot, save
from tpr_rnn.report import ablation, all_tasks, single_task, systematic
from tpr_rnn.report.reading import read_records, runs_without_record
from tpr_rnn.report.records import Record
from tpr_rnn.report.section import Figure, Section
from tpr_rnn.report.table import Table


@dataclass(frozen=True)
class Report:
    """What was written."""

    sections: Sequence[Section]
    files: Sequence[Path]
    left_out: Sequence[Path]
    """Records that belong to none of the experiments."""
    without_record: Mapping[Path, str]
    """Runs that have no record, and why."""


def write_report(directories: Sequence[Path], out: Path) -> Report:
    """Read all records below some directories, and write what they say; the same bytes again."""
    records = read_records(directories)
    chosen: list[tuple[list[Record], Section]] = []
    sections: list[tuple[Callable[[Sequence[Record]], Section], list[Record]]] = [
        (single_task.single_task, list(filter(single_task.belongs, records))),
        (ablation.ablation, [each for each in records if ablation.belongs(each, records)]),
        (all_tasks.all_tasks, list(filter(all_tasks.belongs, records))),
        *(
            (
                partial(systematic.systematic, plan),
                [each for each in records if systematic.belongs(each, plan)],
            )
            for plan in PLANS
        ),
    ]
    for section, members in sections:
        if members:
            chosen.append((members, section(members)))
    try:
        out.mkdir(parents=True, exist_ok=True)
        files = [path for _, section in chosen for path in _write(section, out)]
    except OSError as error:
        raise UserError(f"{out}: cannot be written ({error.strerror})") from error
    shown = {record.path for members, _ in chosen for record in members}
    left_out = [record.path for record in records if record.path not in shown]
    sections_written = [section for _, section in chosen]
    return Report(sections_written, files, left_out, runs_without_record(directories))


def _write(section: Section, out: Path) -> list[Path]:
    plot = pyplot()
    page = [f"# {section.title}", "\n".join(f"- {line}" for line in section.headlines)]
    files = [out / f"{section.name}.md"]
    for part in section.parts:
        if isinstance(part, Table):
            page.append(part.markdown().rstrip("\n"))
            for suffix, text in (("csv", part.csv()), ("tex", part.latex())):
                files.append(_write_text(out / f"{part.name}.{suffix}", text))
        elif isinstance(part, Figure):
            figure = part.draw(plot)
            save(figure, out, part.name)
            plot.close(figure)
            files += [out / f"{part.name}.{suffix}" for suffix in ("png", "svg")]
            page.append(f"![{part.caption}]({part.name}.png)\n\n{part.caption}")
        else:
            page.append(part)
    _write_text(files[0], "\n\n".join(page) + "\n")
    return files


def _write_text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
