"""A table, to be read (Markdown), computed with (CSV) or printed (LaTeX, booktabs)."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tpr_rnn.report.numbers import Spread, two_places

MISSING = "missing"
"""What a cell says whose runs are not there; an empty cell is one that nobody has published."""

Cell = str | int | float | Spread | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings; None is a cell whose runs are missing."""

    name: str
    """Of its files."""
    caption: str
    headings: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    summary_rows: int = 0
    """So many of the last rows sum up those above."""
    note: str = ""
    """What whoever sees the table alone must know."""
    in_paper: bool = False
    """Whether the paper has such a table: then it is also written for LaTeX."""

    def markdown(self) -> str:
        """The table with its caption above."""
        lines = [f"**{self.caption}**", "", _line(self.headings)]
        lines.append(_line(["---", *["---:"] * (len(self.headings) - 1)]))
        lines += [_line([_shown(cell) for cell in row]) for row in self.rows]
        lines += ["", self.note] if self.note else []
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """A table environment; it needs the package booktabs."""
        columns = "l" + "r" * (len(self.headings) - 1)
        caption = f"{self.caption.rstrip('.')}. {self.note}" if self.note else self.caption
        lines = [
            r"\begin{table}",
            rf"  \caption{{{_escaped(caption)}}}",
            r"  \centering",
            rf"  \begin{{tabular}}{{{columns}}}",
            r"    \toprule",
            _latex_line(self.headings),
            r"    \midrule",
        ]
        body = len(self.rows) - self.summary_rows
        for number, row in enumerate(self.rows):
            if number == body:
                lines.append(r"    \midrule")
            lines.append(_latex_line([_shown(cell) for cell in row]))
        lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Plain numbers; a mean with its deviation takes three columns."""
        spreads = [
            any(isinstance(row[column], Spread) for row in self.rows)
            for column in range(len(self.headings))
        ]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        headings: list[str] = []
        for heading, spread in zip(self.headings, spreads, strict=True):
            headings += (
                [f"{heading} mean", f"{heading} deviation", f"{heading} runs"]
                if spread
                else [heading]
            )
        writer.writerow(headings)
        for row in self.rows:
            cells: list[str] = []
            for cell, spread in zip(row, spreads, strict=True):
                cells += _spread_cells(cell) if spread else [_plain(cell)]
            writer.writerow(cells)
        return text.getvalue()


def _shown(cell: Cell) -> str:
    if cell is None:
        return MISSING
    if isinstance(cell, Spread):
        text = two_places(cell.mean)
        if cell.deviation is not None:
            text += f" ± {two_places(cell.deviation)}"
        return text if cell.count == cell.wanted else f"{text} ({cell.count} of {cell.wanted})"
    return two_places(cell) if isinstance(cell, float) else str(cell)


def _plain(cell: Cell) -> str:
    if cell is None:
        return MISSING
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def _spread_cells(cell: Cell) -> list[str]:
    if isinstance(cell, Spread):
        deviation = "" if cell.deviation is None else f"{cell.deviation:.4f}"
        count = "" if cell.count is None else str(cell.count)
        return [f"{cell.mean:.4f}", deviation, count]
    return [_plain(cell), "", ""]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_line(cells: Sequence[str]) -> str:
    return f"    {' & '.join(map(_escaped, cells))} \\\\"


def _escaped(text: str) -> str:
    for character in "&%#_":
        text = text.replace(character, "\\" + character)
    text = re.sub("`([^`]*)`", r"\\texttt{\1}", text)
    return text.replace("±", r"$\pm$").replace(">", "$>$").replace("<", "$<$")
