"""Which records make a report: none twice, none mixed up, bad ones named."""

import json

import pytest
from msgspec import structs

from report.made_up import (
    change,
    make_record,
    rows_of,
    text_of,
    write_all_tasks,
    write_run,
    write_systematic,
)
from tpr_rnn.cli import main
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import CurvePoint, encode_record, read_record
from tpr_rnn.report.write import write_report


def test_runs_with_other_settings_are_not_mixed(runs, out) -> None:
    for rate in ("0.001", "0.002"):
        place = runs / rate / "seed-0"
        write_run(place, "1", 0, {"1": 0.0}, settings={"learning_rate": rate})
    write_run(runs / "generated", "1", 0, {"1": 0.0}, data="generated")
    write_run(runs / "write", "1", 0, {"1": 0.0}, operations=["write"])
    write_report([runs], out)
    page = text_of(out / "single-task.md")
    for label in (
        "single, en-valid-10k, learning_rate=0.001",
        "single, en-valid-10k, learning_rate=0.002",
        "single, en-valid-10k, operations=write",
        "single, generated",  # with the rate of the preset
    ):
        assert f"`{label}`" in page


def test_a_run_that_is_there_twice_counts_once(runs, out) -> None:
    write_run(runs / "a", "1", 0, {"1": 2.0})
    write_run(runs / "b", "1", 0, {"1": 2.0}, seconds=9.0)
    write_report([runs, runs / "a"], out)
    assert rows_of(out / "single-task.csv")["1"]["single runs"] == "1"
    write_run(runs / "c", "1", 0, {"1": 3.0})
    with pytest.raises(
        UserError, match=r"a/result.json and .*c/result.json have the same settings"
    ):
        write_report([runs], out)


def test_runs_on_different_stories_are_not_averaged(runs, out) -> None:
    write_run(runs / "a", "1", 0, {"1": 2.0})
    write_run(runs / "b", "1", 1, {"1": 2.0}, data_sha256="other")
    with pytest.raises(UserError, match="runs of the same kind on different stories"):
        write_report([runs], out)


def test_a_file_of_records_says_what_its_runs_say(runs, out, tmp_path) -> None:
    write_all_tasks(runs, seeds=2)
    first = write_report([runs], out)
    records = [read_record(path) for path in sorted(runs.rglob("result.json"))]
    curves = [
        [
            (point["step"], point["cpu_seconds"], point["valid_error"])
            for point in map(json.loads, path.read_text().splitlines())
        ]
        for path in sorted(runs.rglob("metrics.jsonl"))
    ]
    lines = [
        encode_record(structs.replace(record, curve=[CurvePoint(*point) for point in curve]))
        for record, curve in zip(records, curves, strict=True)
    ]
    file = tmp_path / "all-tasks.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    second = write_report([file], tmp_path / "again")
    for one, other in zip(first.files, second.files, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name

    file.write_bytes(lines[0] + b"\n{}\n")
    with pytest.raises(UserError, match=r"all-tasks\.jsonl:2: not the record of a run"):
        write_report([file], out)


def left_out(runs, capsys) -> dict[str, str]:
    """What `tpr-rnn report` says of runs that it does not show: place -> reason."""
    with pytest.raises(SystemExit) as end:
        main(["report", str(runs)])
    assert not end.value.code
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("left out")]
    pairs = [line.removeprefix("left out, because ").rsplit(": ", 1) for line in told]
    return {place: reason for reason, place in pairs}


def test_what_is_not_shown_is_named(runs, capsys) -> None:
    finished = write_run(runs / "a", "1", 0, {"1": 2.0})
    (finished / "config.json").write_text("{}")
    write_run(runs / "b", "1", 1, {"1": 2.0}, experiment="unheard-of")
    write_run(runs / "c", "1", 2, {"1": 2.0}, test=None)
    for name in "de":
        (runs / name).mkdir()
        (runs / name / "config.json").write_text("{}")
    (runs / "e" / "failure.json").write_text("{}")
    assert left_out(runs, capsys) == {
        str(runs / "b" / "result.json"): "there is no report of 'unheard-of'",
        str(runs / "c" / "result.json"): "its test questions are not scored yet",
        str(runs / "d"): "it is not finished",
        str(runs / "e"): "it ended in an error (failure.json says which)",
    }
    assert rows_of(runs / "report" / "single-task.csv")["1"]["single runs"] == "1"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (None, None, "no result.json there"),
        ("result.json", "{}", "result.json: not the record of a run (Object missing required"),
        ("result.json", "{", "result.json: not the record of a run (Input data was truncated)"),
        (
            "metrics.jsonl",
            '{"step": 1}\n',
            "metrics.jsonl:1: no line of a learning curve (Object missing required field `cpu_sec",
        ),
        ("metrics.jsonl", "7\n", "metrics.jsonl:1: no line of a learning curve"),
        ("metrics.jsonl", "[" * 9999, "metrics.jsonl:1: no line of a learning curve"),
        (
            "metrics.jsonl",
            '{"step": 1, "cpu_seconds": 1, "valid_error": 101}\n',
            "(Expected `float` <= 100.0 - at `$.valid_error`); mend or remove it",
        ),
        (
            "metrics.jsonl",
            '{"step": 2, "cpu_seconds": 1, "valid_error": 1}\n' * 2,
            "metrics.jsonl:2: no line of a learning curve (step 2 comes after step 2)",
        ),
        ("metrics.jsonl", "\udcff\udcfe\n", "metrics.jsonl:1: no line of a learning curve"),
    ],
)
def test_bad_input_is_named(runs, out, name, content, message, capsys) -> None:
    runs.mkdir()
    if name is not None:
        write_all_tasks(runs, seeds=1)
        (runs / "all" / "seed-0" / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(SystemExit) as end:
        main(["report", str(runs), "--out", str(out)])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("part", "name", "value", "expected"),
    [
        ("model", "shared_hidden", "maybe", "is true or false, not 'maybe'"),
        ("recipe", "epochs", 2.5, "is a whole number, not 2.5"),
        ("recipe", "random_name_share", "0.7", "is a number, not '0.7'"),
        ("recipe", "random_name_share", True, "is a number, not True"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(runs, out, part, name, value, expected) -> None:
    place = write_run(runs / "a", "1", 0, {"1": 0.0})
    settings = read_record(place / "result.json").settings
    changed = getattr(settings, part) | {name: value}
    change(place, settings=structs.replace(settings, **{part: changed}))
    with pytest.raises(UserError, match=rf"result\.json: .*{name} {expected}"):
        write_report([runs], out)


def test_a_record_without_its_new_names_is_named(runs, out) -> None:
    write_systematic(runs, "systematic", seeds=1)
    (path,) = runs.rglob("result.json")
    change(path.parent, new_names=None)
    with pytest.raises(UserError, match=r"result\.json: not the record of a run with new names"):
        write_report([runs], out)


def test_no_place_and_no_records_are_refused(runs, tmp_path, capsys) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("")
    for arguments, message in (
        ([], "which runs?"),
        ([str(runs)], "no such file or directory"),
        ([str(other)], "not a file of records; expected a directory of runs, or a .jsonl file"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["report", *arguments])
        assert end.value.code == 2
        assert message in capsys.readouterr().err


def test_a_preset_that_is_gone_is_still_shown(runs, out) -> None:
    record = make_record("1", 0, {"1": 0.0})
    runs.mkdir()
    (runs / "old.jsonl").write_bytes(encode_record(structs.replace(record, preset="old")) + b"\n")
    write_report([runs / "old.jsonl"], out)
    assert "TPR-RNN (`old`)" in text_of(out / "single-task.md")
