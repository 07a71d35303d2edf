import pytest

from tpr_rnn.report.numbers import Spread, failed, mean_of_all, spread, two_places
from tpr_rnn.report.published import (
    PAPER_ALL,
    PAPER_ALL_MEAN,
    PAPER_SINGLE,
    PAPER_SINGLE_FAILED,
    PAPER_SINGLE_MEAN,
)
from tpr_rnn.report.table import Table


@pytest.mark.parametrize(
    ("runs", "row"),
    [
        ((1.50, 1.69, 1.13, 1.04, 0.78, 0.96, 1.20, 2.40), PAPER_ALL_MEAN),
        ((4.70, 2.50, 3.50, 2.20, 3.40, 5.40, 3.50, 7.90), PAPER_ALL["3"]),
        ((11.00, 3.90, 2.50, 1.20, 4.20, 4.10, 6.00, 22.80), PAPER_ALL["19"]),
    ],
)
def test_the_convention_is_the_papers(runs, row) -> None:
    """The errors of the runs in appendix B give what it prints as mean and deviation."""
    ours = spread(runs)
    assert (ours.mean, ours.deviation) == (
        pytest.approx(row.mean, abs=0.005),
        pytest.approx(row.deviation, abs=0.005),
    )
    assert min(runs) == row.best


@pytest.mark.parametrize("column", ["lstm", "n2n", "dmn", "ren", "best", "mean"])
def test_the_columns_of_table_2_have_the_means_that_it_prints(column) -> None:
    errors = [getattr(row, column) for row in PAPER_SINGLE.values()]
    printed = 33.4 if column == "lstm" else getattr(PAPER_SINGLE_MEAN, column)  # it prints 36.4
    assert sum(errors) / 20 == pytest.approx(printed, abs=0.06)
    if column != "mean":
        assert failed(errors) == getattr(PAPER_SINGLE_FAILED, column)


def test_what_is_missing_is_not_averaged_away() -> None:
    assert spread([None, 1.0, 5.0, 3.0]) == Spread(3.0, 2.0, 3, 4)
    assert spread([1.0]) == Spread(1.0, None, 1, 1)
    assert spread([None]) is None
    assert mean_of_all([1.0, 2.0]) == 1.5
    assert mean_of_all([1.0, None]) is None
    assert mean_of_all([]) is None
    assert failed([5.0, 5.1]) == 1
    assert failed([9.0, None]) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.175, "0.18"),
        (0.125, "0.13"),
        (0.385, "0.39"),
        (0.1749, "0.17"),
        (0.0, "0.00"),
        (3.5 / 20, "0.18"),
    ],
)
def test_halves_are_rounded_up(number, text) -> None:
    assert two_places(number) == text


def test_a_table_in_three_forms() -> None:
    table = Table(
        "t",
        "Errors of `a_b`, 5 %",
        ("task", "ours", "best"),
        [
            ["1", Spread(0.125, 0.5, 5, 5), 0.25],
            ["2", Spread(1.0, None, 1, 5), None],
            ["3", None, ""],
            ["all", Spread(1.0, 2.0), 3],
        ],
        summary_rows=1,
        note="Task 3 is odd.",
    )
    assert table.markdown() == (
        "**Errors of `a_b`, 5 %**\n\n"
        "| task | ours | best |\n| --- | ---: | ---: |\n"
        "| 1 | 0.13 ± 0.50 | 0.25 |\n"
        "| 2 | 1.00 (1 of 5) | missing |\n"
        "| 3 | missing |  |\n"
        "| all | 1.00 ± 2.00 | 3 |\n\n"
        "Task 3 is odd.\n"
    )
    assert table.csv() == (
        "task,ours mean,ours deviation,ours runs,best\n"
        "1,0.1250,0.5000,5,0.2500\n"
        "2,1.0000,,1,missing\n"
        "3,missing,,,\n"
        "all,1.0000,2.0000,,3\n"
    )
    assert table.latex() == (
        "\\begin{table}\n"
        "  \\caption{Errors of \\texttt{a\\_b}, 5 \\%. Task 3 is odd.}\n"
        "  \\centering\n"
        "  \\begin{tabular}{lrr}\n"
        "    \\toprule\n"
        "    task & ours & best \\\\\n"
        "    \\midrule\n"
        "    1 & 0.13 $\\pm$ 0.50 & 0.25 \\\\\n"
        "    2 & 1.00 (1 of 5) & missing \\\\\n"
        "    3 & missing &  \\\\\n"
        "    \\midrule\n"
        "    all & 1.00 $\\pm$ 2.00 & 3 \\\\\n"
        "    \\bottomrule\n"
        "  \\end{tabular}\n"
        "\\end{table}\n"
    )
