"""Finding and reading the records of runs: in run directories, and in files with one a line."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct, structs

from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import (
    Count,
    CurvePoint,
    Percent,
    RunRecord,
    Seconds,
    read_lines,
    read_record,
)


class Found(NamedTuple):
    """A record, and where it was found."""

    place: str
    """A file, or a file and a line in it."""
    record: RunRecord


def find_records(places: Sequence[Path]) -> list[Found]:
    """The records in some files, and of all runs below some directories."""
    found: dict[str, RunRecord] = {}
    for place in places:
        if place.is_dir():
            paths = sorted(place.rglob("result.json"))
            found |= {str(path): read_run(path.parent) for path in paths}
            if not paths:
                raise UserError(
                    f"{place}: no result.json there; the runs of `tpr-rnn sweep` have one each"
                )
        elif place.suffix == ".jsonl" and place.is_file():
            lines = enumerate(read_lines(place), start=1)
            found |= {f"{place}:{number}": record for number, record in lines}
        else:
            what = "not a file of records" if place.exists() else "no such file or directory"
            raise UserError(f"{place}: {what}; expected a directory of runs, or a .jsonl file")
    return [Found(place, record) for place, record in found.items()]


def read_run(directory: Path) -> RunRecord:
    """The record of the run in a directory, with its learning curve."""
    record = read_record(directory / "result.json")
    return structs.replace(record, curve=_read_curve(directory / "metrics.jsonl"))


class _Evaluation(Struct, frozen=True):
    """What a curve needs of a line of `metrics.jsonl`."""

    step: Count
    cpu_seconds: Seconds
    valid_error: Percent


def _read_curve(path: Path) -> list[CurvePoint]:
    points: list[CurvePoint] = []
    lines = path.read_bytes().splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            each = msgspec.json.decode(line, type=_Evaluation)
            if points and each.step <= points[-1].step:
                raise ValueError(f"step {each.step} comes after step {points[-1].step}")
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"{path}:{number}: no line of a learning curve ({error}); mend or remove it"
            ) from error
        points.append(CurvePoint(each.step, each.cpu_seconds, each.valid_error))
    return points
