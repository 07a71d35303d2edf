"""What is committed under results/: reports that their records give, and not too much of it."""

import re
import subprocess
from pathlib import Path

import matplotlib
import pytest

from tpr_rnn.evaluation.record import read_lines
from tpr_rnn.report.write import write_report

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
RECORDS = sorted((RESULTS / "records").glob("*.jsonl"))
PINNED = re.search(r"^matplotlib==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)


def test_there_is_a_report_of_every_experiment() -> None:
    names = sorted(path.stem for path in RECORDS)
    assert len(names) == 9
    assert sorted(path.name for path in (RESULTS / "reports").iterdir()) == names


@pytest.mark.parametrize("file", RECORDS, ids=lambda path: path.stem)
def test_records_are_of_their_experiment_and_name_no_place(file) -> None:
    assert {record.experiment for record in read_lines(file)} == {file.stem}
    assert not re.search(rb'"/|[a-z]:\\\\|/home/|/tmp/', file.read_bytes())


@pytest.mark.parametrize("file", RECORDS, ids=lambda path: path.stem)
def test_a_report_is_rebuilt_byte_for_byte(file, tmp_path) -> None:
    written = write_report([file], tmp_path)
    assert not written.left_out
    committed = RESULTS / "reports" / file.stem
    assert {path.name for path in committed.iterdir()} == {path.name for path in written.files}
    assert PINNED is not None
    for path in written.files:
        # Another version of matplotlib may draw the same figure in other bytes.
        if path.suffix != ".png" or matplotlib.__version__ == PINNED.group(1):
            assert path.read_bytes() == (committed / path.name).read_bytes(), path.name


def test_results_stay_small() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "results"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\0")
    files = [ROOT / name for name in listed if name and (ROOT / name).exists()]
    files = files or [path for path in RESULTS.rglob("*") if path.is_file()]  # not from git
    assert len(files) < 150
    assert sum(path.stat().st_size for path in files) < 8_000_000
