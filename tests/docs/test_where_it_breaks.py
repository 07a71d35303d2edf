"""The tables of docs/where-it-breaks.md are those of the records."""

import json
import re
from pathlib import Path

from tpr_rnn.evaluation.record import read_record
from tpr_rnn.pretrained import DIRECTORY

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "where-it-breaks.md").read_text(encoding="utf-8")
SCORED = json.loads((ROOT / "results" / "probes" / "wide-official.json").read_text())
OFFICIAL = SCORED["probes"]["wide"]


def test_each_kind_has_the_errors_of_both_models() -> None:
    wide = read_record(DIRECTORY / "result.json").probes["wide"]
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([0-9.]+ \| [0-9.]+|- \| [0-9.]+) \|$", PAGE, re.M))
    official = {kind: f"{each['error']:.1f}" for kind, each in OFFICIAL["per_part"].items()}
    assert rows == {
        **{
            kind: f"{official.get(kind, '-')} | {each.error:.1f}"
            for kind, each in wide.per_part.items()
        },
        "mean over kinds": f"{OFFICIAL['error']:.1f} | {wide.error:.1f}",
    }
