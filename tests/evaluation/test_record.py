"""The record of a run: typed, with a checksum, and named where it is damaged."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from report.made_up import SCORED, make_record
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import (
    CurvePoint,
    decode_record,
    encode_record,
    read_lines,
    read_record,
)

RECORD = make_record(
    "all",
    1,
    {"1": 0.5, "2": 1.5},
    name="all",
    curve=[CurvePoint(1, 2.0, 3.0)],
    probes={
        "swapped-names": {
            "error": 2.0,
            "plain_error": 1.0,
            "per_part": {"1": {"error": 2.0, "plain_error": 1.0}},
        }
        | SCORED,
        "of somebody else": {
            "error": 3.0,
            "per_part": {"a kind": {"error": 3.0, "questions": 7}},
            "measures": {"something": 4.0},
        }
        | SCORED,
    },
    new_names={
        "per_name": {"Ann": {"1": {"trained": True, "accuracy": 1.0, "asked_accuracy": 2.0}}}
    }
    | SCORED,
)
CONTENT = json.loads(encode_record(RECORD))


def test_it_comes_back_as_it_was() -> None:
    assert decode_record(encode_record(RECORD)) == RECORD
    # As the contract of other programs has it.
    assert CONTENT["valid"]["per_task"] == {"1": {"error": 1.0}, "2": {"error": 1.0}}
    assert CONTENT["test"]["per_task"] == {"1": {"error": 0.5}, "2": {"error": 1.5}}
    assert CONTENT["test"] | SCORED == CONTENT["test"]


def test_without_a_test_the_field_is_null() -> None:
    content = json.loads(encode_record(make_record("1", 0, {"1": 0.0}, test=None)))
    assert content["test"] is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": False}, r"Expected `int`, got `bool` - at `\$\.seed`"),
        ({"seed": -7}, r"`\$\.seed`"),
        ({"seed": 10**400}, r"`\$\.seed`"),
        ({"data": [1]}, r"Expected `str`, got `array` - at `\$\.data`"),
        ({"device": {}}, r"`\$\.device`"),
        ({"steps": None}, r"`\$\.steps`"),
        ({"cpu_seconds": -5}, r"`\$\.cpu_seconds`"),
        ({"substituted": {"3": 5}}, r"`\$\.substituted\[...\]`"),
        ({"stopped": 1}, r"`\$\.stopped`"),
        ({"unheard_of": 1}, "unknown field `unheard_of`"),
        ({"valid": {"error": 0.0, "loss": 0.0, "per_task": {}}}, r"per_task is empty.*\$\.valid"),
        ({"valid": {"error": 101, "loss": 0.0, "per_task": {}}}, r"`\$\.valid\.error`"),
        (
            {"test": CONTENT["test"] | {"error": 0.1}},
            r"error is 0\.1, but those of per_task have a mean of 1 - at `\$\.test`",
        ),
        ({"test": CONTENT["test"] | {"when": None}}, r"`\$\.test\.when`"),
        ({"new_names": {"per_name": {"Ann": {}}} | SCORED}, "a name without tasks"),
        (
            {"probes": {"x": {"error": 0.0, "per_part": {}} | SCORED}},
            r"per_part is empty.*\$\.probes",
        ),
        (
            {"probes": {"x": {"error": 0.0, "per_part": {"1": {"error": -1}}} | SCORED}},
            r">= 0\.0 - at `\$\.probes",
        ),
        ({"settings": {"model": {"a": {}}, "recipe": {}}}, r"`\$\.settings\.model\[...\]`"),
        ({"seed": 2}, "its checksum is not that of its content"),
        ({"checksum": None}, "its checksum is not that of its content"),
    ],
)
def test_a_field_that_makes_no_sense_is_named(change, named, tmp_path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(CONTENT | change))
    with pytest.raises(UserError, match=rf"result\.json: not the record of a run \(.*({named})"):
        read_record(path)


DAMAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_damage_ends_in_a_traceback(data) -> None:
    """A field, at any depth, becomes anything; or bytes of the file are lost, or others."""
    content = json.loads(json.dumps(CONTENT))
    place = content
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        if not (isinstance(place[key], dict) and place[key] and data.draw(st.booleans())):
            break
        place = place[key]
    before = place[key]
    place[key] = data.draw(DAMAGE)
    line = bytearray(json.dumps(content).encode())
    flipped = data.draw(st.booleans())
    if flipped:
        at = data.draw(st.integers(0, len(line) - 1))
        line[at] = data.draw(st.integers(0, 255))
    found = None
    with suppress(ValueError):
        found = decode_record(bytes(line))
    if found is not None:  # what is the same to JSON, such as 1 for 1.0
        assert found == RECORD
        assert flipped or place[key] == before


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"task": ' * 9_000,
        b'{"settings": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"seed": ' + b"9" * 5_000 + b"}",
        b"\xff\xfe",
        b"",
        b"NaN",
        b"7",
    ],
)
def test_what_is_no_json_of_a_record_is_refused(line, tmp_path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(encode_record(RECORD) + b"\n" + line + b"\n")
    with pytest.raises(UserError, match=r"records\.jsonl:2: not the record of a run"):
        read_lines(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path) -> None:
    with pytest.raises(UserError, match=r"result\.json: no such file; is .* a finished run\?"):
        read_record(tmp_path / "result.json")
    with pytest.raises(UserError, match="cannot be read"):
        read_lines(tmp_path)
