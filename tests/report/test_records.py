"""Which records make a report: none twice, none mixed up, bad ones named."""

import json
import math

import pytest

from report.made_up import rows_of, write_all_tasks, write_run, write_systematic
from tpr_rnn.cli import main
from tpr_rnn.errors import UserError
from tpr_rnn.report.write import write_report


def test_runs_with_other_settings_are_not_mixed(runs, out) -> None:
    for rate in ("0.001", "0.002"):
        place = runs / rate / "seed-0"
        write_run(place, "1", 0, {"1": 0.0}, settings={"learning_rate": rate})
    write_run(runs / "generated", "1", 0, {"1": 0.0}, data="generated")
    write_report([runs], out)
    page = (out / "single-task.md").read_text("utf-8")
    for label in (
        "single, en-valid-10k, learning_rate 0.001",
        "single, en-valid-10k, learning_rate 0.002",
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


def test_what_belongs_nowhere_is_named(runs, out, capsys) -> None:
    write_run(runs / "a", "1", 0, {"1": 2.0})
    write_run(runs / "b", "1", 0, {"1": 2.0}, operations=["backlink"])
    with pytest.raises(SystemExit) as end:
        main(["report", str(runs)])
    assert not end.value.code
    told = capsys.readouterr().out
    assert f"belongs to none of these experiments: {(runs / 'b' / 'result.json').resolve()}" in told
    assert (runs / "report" / "single-task.md").exists()


def test_a_run_that_is_not_finished_is_named(runs, out, capsys) -> None:
    finished = write_run(runs / "a", "1", 0, {"1": 2.0})
    (finished / "config.json").write_text("{}")
    (runs / "b").mkdir()
    (runs / "b" / "config.json").write_text("{}")
    with pytest.raises(SystemExit) as end:
        main(["report", str(runs)])
    assert not end.value.code
    told = capsys.readouterr().out
    assert f"left out, for it is not finished: {(runs / 'b').resolve()}" in told
    assert told.count("left out") == 1

    (runs / "b" / "failure.json").write_text("{}")
    with pytest.raises(SystemExit):
        main(["report", str(runs)])
    told = capsys.readouterr().out
    assert f"left out, for it failed (failure.json says why): {(runs / 'b').resolve()}" in told


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (None, None, "no result.json there"),
        ("result.json", "{}", "result.json: not the record of a run"),
        ("result.json", "{", "result.json:1: not JSON"),
        (
            "metrics.jsonl",
            '{"step": 1}\n',
            "metrics.jsonl:1: no line of a learning curve (seconds is missing)",
        ),
        ("metrics.jsonl", "7\n", "metrics.jsonl:1: no line of a learning curve"),
        (
            "metrics.jsonl",
            '{"step": 1, "seconds": 1, "valid_error": NaN}\n',
            "(valid_error is nan; expected a number, from 0 to 100); mend or remove it",
        ),
        (
            "metrics.jsonl",
            '{"step": 2, "seconds": 1, "valid_error": 1}\n' * 2,
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


@pytest.mark.parametrize("error", [math.nan, 1000.0, -1.0, True])
def test_an_error_that_is_none_is_named(runs, out, error) -> None:
    place = write_run(runs / "a", "1", 0, {"1": error})
    with pytest.raises(UserError, match=f"record of a run .*error is {error}; expected a number"):
        write_report([runs], out)
    assert place.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task", 1),
        ("task", "x"),
        ("seed", "7"),
        ("seed", -7),
        ("seed", 7.5),
        ("data", 5),
        ("substituted", 3),
        ("steps", None),
        ("cpu_seconds", math.nan),
        ("cpu_seconds", -5),
        ("cpu_seconds", math.inf),
        ("cpu_seconds", 10**400),
        ("steps", 10**400),
        ("substituted", {"3": 5}),
        ("per_task", {}),
        ("swapped_names", {"plain_error": 0.0, "swapped_error": 0.0, "per_task": {}}),
        ("valid_loss", math.nan),
        ("per_task", {"1": 0.0}),
        ("stopped", 1),
    ],
)
def test_a_field_that_makes_no_sense_is_named(runs, out, field, value) -> None:
    place = write_run(runs / "a", "1", 0, {"1": 0.0})
    path = place / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    named = "test_error" if field == "per_task" and value else field
    with pytest.raises(UserError, match=rf"result\.json: not the record of a run .*{named}"):
        write_report([runs], out)


def test_a_mean_that_is_not_that_of_the_tasks_is_named(runs, out) -> None:
    place = write_run(runs / "a", "all", 0, {"1": 0.0, "2": 1.0})
    path = place / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"test_error": 0.1}))
    with pytest.raises(UserError, match=r"test_error is 0\.1, but .* have a mean of 0\.5"):
        write_report([runs], out)


@pytest.mark.parametrize(
    ("part", "name", "value", "expected"),
    [
        ("model", "shared_hidden", "maybe", "is true or false, not 'maybe'"),
        ("recipe", "epochs", 2.5, "is a whole number, not 2.5"),
        ("recipe", "random_name_share", "0.7", "is a number, not '0.7'"),
        ("recipe", "random_name_share", True, "is a number, not True"),
        ("recipe", "start_decay_below", math.nan, "is a number, not nan"),
        ("recipe", "start_decay_below", 10**400, "is a number, not 1000"),
        ("recipe", "halve_lr_below_loss", [1], r"is a number, not \[1\]"),
    ],
)
def test_a_setting_of_the_wrong_kind_is_named(runs, out, part, name, value, expected) -> None:
    place = write_run(runs / "a", "1", 0, {"1": 0.0})
    path = place / "result.json"
    record = json.loads(path.read_text())
    record[part][name] = value
    path.write_text(json.dumps(record))
    with pytest.raises(UserError, match=rf"result\.json: .*{name} {expected}"):
        write_report([runs], out)


@pytest.mark.parametrize("content", [None, {"Alex": {}}])
def test_a_record_without_its_new_names_is_named(runs, out, content, capsys) -> None:
    write_systematic(runs, "systematic", seeds=1)
    (path,) = runs.rglob("result.json")
    record = json.loads(path.read_text())
    del record["new_names"]
    path.write_text(json.dumps(record if content is None else record | {"new_names": content}))
    with pytest.raises(SystemExit) as end:
        main(["report", str(runs), "--out", str(out)])
    assert end.value.code == 2
    assert f"{path}: not the record of a run" in capsys.readouterr().err


def test_no_directory_is_refused(runs, capsys) -> None:
    for arguments, message in (([], "which runs?"), ([str(runs)], "no such directory")):
        with pytest.raises(SystemExit) as end:
            main(["report", *arguments])
        assert end.value.code == 2
        assert message in capsys.readouterr().err
