"""Any runs beside a baseline."""

import csv
import math

import pytest
from scipy import stats

from report.made_up import text_of, write_run
from tpr_rnn.cli import main
from tpr_rnn.errors import UserError
from tpr_rnn.report import baseline
from tpr_rnn.report.write import write_beside

CHANGED = "single, inference_steps=4"


def write_study(runs) -> None:
    """A baseline with three seeds of two tasks, and a change that lacks some of them."""
    for seed, (walks, cups) in enumerate(((2.0, 10.0), (3.0, 8.0), (1.0, 6.0))):
        write_run(runs / f"walks-{seed}", "walks", seed, {"walks": walks}, test=None)
        write_run(runs / f"cups-{seed}", "cups", seed, {"cups": cups}, test=None)
    changed = {"settings": {"inference_steps": "4"}, "test": None}
    write_run(runs / "changed-walks-0", "walks", 0, {"walks": 1.0}, **changed)
    write_run(runs / "changed-cups-0", "cups", 0, {"cups": 8.0}, **changed)
    write_run(runs / "changed-walks-1", "walks", 1, {"walks": 2.5}, **changed)
    write_run(runs / "changed-walks-9", "walks", 9, {"walks": 9.5}, **changed)


def test_the_difference_is_taken_seed_by_seed_on_what_both_have(tmp_path) -> None:
    write_study(tmp_path / "runs")
    written = write_beside([tmp_path / "runs"], "single", tmp_path / "out")
    assert not written.left_out
    with (tmp_path / "out" / "baseline.csv").open() as file:
        rows = {row["runs"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["single", CHANGED]
    assert float(rows["single"]["error"]) == pytest.approx((2 + 8) / 2)
    assert rows["single"]["failed tasks"] == "1"
    changed = rows[CHANGED]
    # Seed 0: (-1 - 2) / 2 on two tasks; seed 1: -0.5 on one; seed 9 has no like.
    assert (changed["difference"], changed["from seeds"]) == ("-1.00", "2")
    half = stats.t.ppf(0.975, 1) * 0.5  # deviation over the root of two seeds: 0.5
    assert changed["95 % interval"] == f"{-1 - half:.2f} to +{-1 + half:.2f}"
    assert float(changed["error"]) == pytest.approx(((1 + 2.5 + 9.5) / 3 + 8) / 2, abs=1e-3)
    page = text_of(tmp_path / "out" / "baseline.md")
    assert f"`{CHANGED}`: -1.00 points, from 2 seeds (95 % interval" in page
    assert (tmp_path / "out" / "baseline-differences.png").stat().st_size > 1000


@pytest.mark.parametrize("seeds", [2, 5, 31])
def test_intervals_are_those_of_students_t(seeds) -> None:
    base = {("1", seed): 0.0 for seed in range(seeds)}
    errors = {("1", seed): float(seed) for seed in range(seeds)}
    found = baseline.difference(errors, base)
    deviation = stats.tstd(list(errors.values()))
    assert found is not None
    assert found.half_width == pytest.approx(
        stats.t.ppf(0.975, seeds - 1) * deviation / math.sqrt(seeds), rel=1e-3
    )


def test_one_seed_has_no_interval_and_none_in_common_no_difference() -> None:
    found = baseline.difference({("1", 0): 3.0}, {("1", 0): 1.0})
    assert found == baseline.Difference(2.0, None, 1)
    assert baseline.difference({("1", 0): 3.0}, {("2", 0): 1.0, ("1", 1): 1.0}) is None


def test_an_unknown_baseline_is_told_what_there_is(tmp_path, capsys) -> None:
    write_study(tmp_path / "runs")
    with pytest.raises(SystemExit) as end:
        main(["report", str(tmp_path / "runs"), "--baseline", "all"])
    assert end.value.code == 2
    assert f"there are: single; {CHANGED}" in " ".join(capsys.readouterr().err.split())


def test_two_runs_of_one_kind_with_other_errors_are_refused(tmp_path) -> None:
    write_run(tmp_path / "a", "1", 0, {"1": 2.0})
    write_run(tmp_path / "b", "1", 0, {"1": 3.0})
    with pytest.raises(UserError, match=r"b/result.json: another run has its settings"):
        write_beside([tmp_path], "single", tmp_path / "out")
