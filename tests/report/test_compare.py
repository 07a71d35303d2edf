"""The report of all systems side by side."""

from report.made_up import (
    rows_of,
    text_of,
    write_all_tasks,
    write_run,
    write_single,
    write_systematic,
)
from tpr_rnn.evaluation.reading import find_records
from tpr_rnn.report.figures import Curve
from tpr_rnn.report.numbers import two_places
from tpr_rnn.report.write import write_report
from tpr_rnn.training.presets import preset

COMPARE = {"experiment": "compare"}


def test_each_system_stands_beside_what_is_published_of_it(runs, out) -> None:
    write_single(runs / "ours", seeds=3, **COMPARE)
    write_single(runs / "lstm", seeds=2, name="lstm", scale=10.0, **COMPARE)
    write_all_tasks(runs / "ours-all", seeds=2, **COMPARE)
    report = write_report([runs], out)
    assert not report.left_out
    best = rows_of(out / "compare-single.csv")
    assert best["7"]["published"] == "0.5"  # the paper's best in task 7
    assert best["runs a task"]["TPR-RNN (`single`) best"] == "3"
    ours = best["mean"]["TPR-RNN (`single`) best"]
    against = rows_of(out / "compare-single-published.csv")["TPR-RNN (`single`)"]
    assert against["ours"] == ours
    assert against["published"] == "0.17"
    assert against["difference"] == two_places(float(ours) - 0.17)
    joint = rows_of(out / "compare-all.csv")["TPR-RNN (`all`)"]
    assert joint["published"] == "1.34 ± 0.52"
    assert joint["runs"] == "2"
    assert (out / "compare-curves.png").stat().st_size > 1000
    page = text_of(out / "compare.md")
    assert "102 runs took 1 h 42 min of one core" in page
    assert "No run is missing." in page


def test_what_runs_took_is_counted_in_questions(runs, out) -> None:
    write_run(runs / "a", "1", 0, {"1": 0.0}, steps=100, parameters=7, **COMPARE)
    write_run(runs / "b", "1", 1, {"1": 0.0}, steps=300, parameters=7, **COMPARE)
    write_report([runs], out)
    size = preset("single").recipe.batch_size
    cost = rows_of(out / "compare-cost.csv")["TPR-RNN (`single`)"]
    assert cost["questions"] == f"{100 * size:,} to {300 * size:,}"
    assert (cost["parameters"], cost["setting"]) == ("7", "a task each")
    assert cost["time a run"] == "1 min 0 s"
    page = text_of(out / "compare.md")
    assert "| 2 | missing |" in page
    assert "task 2, seed 0, 1" in page


def test_new_names_have_their_figure(runs, out) -> None:
    for name in ("systematic", "lstm"):
        write_systematic(runs, name, **COMPARE)
    write_report([runs], out)
    assert (out / "compare-names-names.png").stat().st_size > 1000
    assert "LSTM (`lstm`)" in rows_of(out / "compare-names.csv")


def test_a_curve_counts_questions(runs) -> None:
    write_all_tasks(runs, seeds=1)
    [found] = find_records([runs])
    curve = Curve("", 0, found.record.curve, batch_size=64)
    assert curve.axis("questions")[0] == 64 * curve.axis("step")[0]


def test_the_word_level_model_has_the_same_report_under_its_name(runs, out) -> None:
    of_it = {"experiment": "word-level"}
    write_single(runs, seeds=3, name="word-single", **of_it)
    write_all_tasks(runs, seeds=2, name="word-all", **of_it)
    report = write_report([runs], out)
    assert not report.left_out
    best = rows_of(out / "word-level-single.csv")
    assert best["runs a task"]["word-level TPR-RNN (`word-single`) best"] == "3"
    assert rows_of(out / "word-level-all.csv")["word-level TPR-RNN (`word-all`)"]["runs"] == "2"
    peers = rows_of(out / "word-level-peers.csv")
    assert peers["SDNC (Rae 2016)"]["error mean"] == "6.4000"
    ours = rows_of(out / "word-level-all.csv")["word-level TPR-RNN (`word-all`)"]
    assert peers["word-level TPR-RNN (`word-all`)"]["best"] == ours["best"]
    assert text_of(out / "word-level.md").startswith("# The word-level TPR-RNN")
