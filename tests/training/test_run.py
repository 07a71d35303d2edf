"""A run on disk: resumable, whatever happens to it."""

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from tpr_rnn.data.babi import substitutes
from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.corpus import load_corpus
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.probes import Evaluator
from tpr_rnn.evaluation.provenance import Source
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.memory import native
from tpr_rnn.models.reader import Reader
from tpr_rnn.training import run as run_module
from tpr_rnn.training.events import Evaluated
from tpr_rnn.training.final_test import score_test
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import Busy, Elapsed, RunDirectory

SOURCE = Source("a" * 40, dirty=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A tiny task whose stories are all different."""
    directory = tmp_path_factory.mktemp("stories")
    places = ("kitchen", "garden", "office", "hallway", "park")
    stories = [
        Story(
            (f"Mary went to the {a}.", f"John went to the {b}.", f"Mary went to the {c}."),
            (Question("Where is Mary?", c, 3, (2,)), Question("Where is John?", b, 3, (1,))),
        )
        for a in places
        for b in places
        for c in places
    ]
    for split, part in (
        ("train", stories[:90]),
        ("valid", stories[90:110]),
        ("test", stories[110:]),
    ):
        (directory / f"qa1_{split}.txt").write_text("".join(map(format_story, part)))
    return directory


def config(data, **settings) -> RunConfig:
    short = {"epochs": "6", "attempts": "1", "decay_epochs": "0", "start_decay_below": "none"}
    changes = short | {"batch_size": "16", "stop_after_zero_error": "none"} | settings
    return RunConfig(
        task="1",
        seed=2,
        preset="single",
        settings=preset("single").with_settings(changes),
        data=str(data),
    )


def finish(run: Run) -> RunRecord:
    for _ in run.events():
        pass
    return run.finish()


def comparable(directory):
    """All that must not depend on interruptions: weights, result and metrics.

    Not the time, nor the commit, which may be another one meanwhile.
    """
    result = json.loads((directory / "result.json").read_text())
    metrics = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
    for record in (result, *metrics):
        del record["seconds"], record["cpu_seconds"]
    for name in ("checksum", "commit", "dirty"):
        del result[name]
    return (directory / "model.safetensors").read_bytes(), result, metrics


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "source", lambda: SOURCE)
        finish(Run.begin(config(data), directory))
    return directory


def test_the_record_has_what_the_contract_asks(undisturbed) -> None:
    record = RunDirectory(undisturbed).record()
    assert (record.experiment, record.variant) == ("single-task", "single")
    assert (record.task, record.seed, record.preset) == ("1", 2, "single")
    assert record.architecture == "tpr-rnn"
    assert record.settings.model["operations"] == ["write", "move", "backlink"]
    assert record.valid.per_task["1"].error == record.valid.error
    assert (record.test, record.new_names, record.probes) == (None, None, {})
    assert record.steps == 6 * 12
    assert record.substituted == {}
    assert record.questions == {"train": 180, "valid": 40, "test": 30}
    metrics = (undisturbed / "metrics.jsonl").read_text().splitlines()
    best = min(
        (json.loads(line)["valid_error"], json.loads(line)["valid_loss"]) for line in metrics
    )
    assert (record.valid.error, record.valid.loss) == (
        pytest.approx(best[0]),
        pytest.approx(best[1], abs=1e-6),
    )
    assert set(record.versions) == {"python", "tpr-rnn", "torch", "numpy"}
    assert record.kernel == native.status()
    assert (record.commit, record.dirty) == SOURCE
    assert len(record.data_sha256) == 64
    assert record.seconds > 0
    assert record.cpu_seconds > 0
    assert record.settings.recipe["epochs"] == 6
    assert record.settings.model["bounded_keys"] is True
    assert not (undisturbed / "checkpoint.safetensors").exists()
    assert len(metrics) == 6


def test_test_errors_are_scored_on_demand_and_recorded_once(undisturbed, data, tmp_path) -> None:
    directory = tmp_path / "run"
    shutil.copytree(undisturbed, directory)
    before = RunDirectory(directory).record()
    record = score_test(directory, "a test")
    assert RunDirectory(directory).record() == record
    assert structs.replace(record, test=None) == before
    assert record.test is not None
    assert record.test.command == "a test"
    assert datetime.now(UTC) - datetime.fromisoformat(record.test.when) < timedelta(minutes=5)
    # Answers of the test are in no split that training has seen.
    corpus = load_corpus(data, "1", ["test"])
    evaluator = Evaluator(Reader.load(directory), corpus.max_sentences(None))
    scores = evaluator.scores(corpus.split("test"))
    assert record.test.error == pytest.approx(scores.error, abs=1e-4)
    assert score_test(directory, "another") == record


def test_training_does_not_look_at_test_answers(data, undisturbed, tmp_path) -> None:
    """Other answers in the test file, of words that are known: the weights are the same."""
    other = tmp_path / "data"
    shutil.copytree(data, other)
    path = other / "qa1_test.txt"
    path.write_text(path.read_text().replace("\tpark", "\tgarden"))
    finish(Run.begin(config(other), tmp_path / "run"))
    weights = (tmp_path / "run" / "model.safetensors").read_bytes()
    assert weights == (undisturbed / "model.safetensors").read_bytes()
    # The stories are others all the same, so they are not scored as if they were those.
    (tmp_path / "run" / "config.json").write_text((undisturbed / "config.json").read_text())
    with pytest.raises(UserError, match="is no longer what it was trained on"):
        score_test(tmp_path / "run", "a test")


def test_the_same_seed_gives_the_same_run(data, undisturbed, tmp_path) -> None:
    finish(Run.begin(config(data), tmp_path / "again"))
    assert comparable(tmp_path / "again") == comparable(undisturbed)


@pytest.mark.parametrize("step", [0, 5, 12, 13, 70])
def test_a_stopped_run_resumes_to_the_same_end(data, undisturbed, tmp_path, step) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    for _ in run.events(stop=lambda: run.trainer.progress.step >= step):
        pass
    assert not run.ended
    finish(Run.resume(tmp_path / "run"))
    assert comparable(tmp_path / "run") == comparable(undisturbed)


def test_a_step_that_is_broken_off_is_not_saved(data, undisturbed, tmp_path, monkeypatch) -> None:
    """As by a second Ctrl-C: half a step must not go into the checkpoint."""
    run = Run.begin(config(data), tmp_path / "run")
    for _ in run.events(stop=lambda: run.trainer.progress.step >= 9):
        pass
    run = Run.resume(tmp_path / "run")
    follow = run.trainer.optimizer.step

    def break_off(learning_rate: float) -> None:
        follow(learning_rate)
        raise KeyboardInterrupt

    monkeypatch.setattr(run.trainer.optimizer, "step", break_off)
    with pytest.raises(KeyboardInterrupt):
        next(run.events())
    finish(Run.resume(tmp_path / "run"))
    assert comparable(tmp_path / "run") == comparable(undisturbed)


def test_the_time_before_an_interruption_counts(data, tmp_path) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    for _ in run.events(stop=lambda: run.trainer.progress.step >= 5):
        pass
    run.directory.save_checkpoint(run.trainer, Elapsed(1000.0, 600.0))
    record = finish(Run.resume(tmp_path / "run"))
    assert 1000 < record.seconds < 1600
    assert 600 < record.cpu_seconds < 1000


def test_a_run_resumes_from_an_old_checkpoint(data, undisturbed, tmp_path, monkeypatch) -> None:
    """As after a kill: more was written since the checkpoint than it knows of."""
    run = Run.begin(config(data), tmp_path / "run")
    evaluations = 0
    for event in run.events():
        evaluations += isinstance(event, Evaluated)
        if evaluations == 2:
            run.directory.save_checkpoint(run.trainer, Elapsed(1.0, 1.0))
            evaluations += 1
        if evaluations == 5:
            break
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 6')
    finish(Run.resume(tmp_path / "run"))
    assert comparable(tmp_path / "run") == comparable(undisturbed)


def test_a_damaged_line_in_the_middle_is_named_and_nothing_lost(data, tmp_path) -> None:
    run = Run.begin(config(data), tmp_path / "run")
    evaluated: list[Evaluated] = []
    for event in run.events(stop=lambda: len(evaluated) == 3):
        if isinstance(event, Evaluated):
            evaluated.append(event)
    path = tmp_path / "run" / "metrics.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "nonsense", *lines[2:]]) + "\n")
    with pytest.raises(UserError, match=r"metrics.jsonl:2: not the line of an evaluation"):
        next(Run.resume(tmp_path / "run").events())
    assert len(path.read_text().splitlines()) == len(lines) == 3


# Each child is killed without a word when it has used its processor time. All of them are forked
# from one process that has imported torch and not used it.
KILLED_UNTIL_IT_IS_THROUGH = """
import os, signal, sys
from pathlib import Path
from tpr_rnn.training import run

run.CHECKPOINT_SECONDS = 0.0
for kills in range(50):
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, 0.02 * 1.2**kills)
        resumed = run.Run.resume(Path(sys.argv[1]))
        for _ in resumed.events():
            pass
        resumed.finish()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        break
    assert status == -signal.SIGPROF, status
print(kills)
"""


def test_a_killed_run_resumes_to_the_same_end(data, undisturbed, tmp_path) -> None:
    """Killed at any moments until the run gets through."""
    directory = tmp_path / "run"
    Run.begin(config(data), directory)
    done = subprocess.run(
        [sys.executable, "-c", KILLED_UNTIL_IT_IS_THROUGH, str(directory)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1, "the run was over before it could be killed"
    assert comparable(directory) == comparable(undisturbed)


def test_a_run_that_has_lost_its_record_says_that_it_starts_anew(
    data, undisturbed, tmp_path
) -> None:
    lost = shutil.copytree(undisturbed, tmp_path / "lost")
    (lost / "result.json").unlink()
    assert "neither its record nor a checkpoint; starting from the" in Run.resume(lost).warning


def test_a_run_of_a_preset_that_nobody_knows_is_not_resumed(data, tmp_path) -> None:
    Run.begin(config(data), tmp_path / "run")
    there = tmp_path / "run" / "config.json"
    there.write_text(there.read_text().replace('"single"', '"sinfle"'))
    with pytest.raises(UserError, match="unknown preset 'sinfle'"):
        Run.resume(tmp_path / "run")


def test_a_run_that_was_finished_meanwhile_is_not_begun_anew(data, tmp_path) -> None:
    one = Run.begin(config(data), tmp_path / "run")
    other = Run.resume(tmp_path / "run")  # reads the stories while the first one trains
    list(one.events())
    one.finish()
    before = one.directory.model.read_bytes()
    with pytest.raises(Busy, match="another process has just finished this run"):
        list(other.events())
    assert one.directory.model.read_bytes() == before


def test_a_directory_of_somebodys_files_is_left_alone(data, tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UserError, match=r"holds files, but no run \(thesis.tex\); choose another"):
        Run.begin(config(data), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_run_is_not_begun_twice(data, undisturbed) -> None:
    with pytest.raises(UserError, match="there is a run already; add --resume"):
        Run.begin(config(data), undisturbed)


def test_what_is_no_run_is_not_resumed(tmp_path) -> None:
    with pytest.raises(UserError, match=r"config.json: no such file"):
        Run.resume(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UserError, match=r"config.json:1: not JSON"):
        Run.resume(tmp_path)
    (tmp_path / "config.json").write_text('{"task": "1"}')
    with pytest.raises(UserError, match=r"config.json: not that of a run"):
        Run.resume(tmp_path)


def test_checkpoints_are_spaced_in_time(data, tmp_path, monkeypatch) -> None:
    saved = []
    monkeypatch.setattr(RunDirectory, "save_checkpoint", lambda *_: saved.append(1))
    finish(Run.begin(config(data), tmp_path / "rare"))
    assert len(saved) == 1  # at the end, so that even the scoring may be interrupted
    monkeypatch.setattr(run_module, "CHECKPOINT_SECONDS", 0.0)
    finish(Run.begin(config(data), tmp_path / "often"))
    assert len(saved) == 1 + 6 * 12 + 6 + 1  # and between any two events


def test_a_run_is_not_resumed_on_other_data(data, tmp_path) -> None:
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    run = Run.begin(config(copy), tmp_path / "run")
    for _ in run.events(stop=lambda: True):
        pass
    path = copy / "qa1_train.txt"
    path.write_text(path.read_text().replace("park", "attic"))
    with pytest.raises(UserError, match=r"no longer what the run in .* was begun with"):
        Run.resume(tmp_path / "run")


def test_a_run_says_what_filled_a_gap_and_notices_when_that_changes(
    data, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(substitutes, "QUESTIONS", 90)
    directory = tmp_path / "en-valid-10k"
    directory.mkdir()
    for split in ("valid", "test"):
        shutil.copy(data / f"qa1_{split}.txt", directory)
    beside = tmp_path / "en" / "qa1_single-supporting-fact_train.txt"
    beside.parent.mkdir()
    shutil.copy(data / "qa1_train.txt", beside)
    settings = preset("single").with_settings({"epochs": "1"})
    filling = RunConfig(task="1", seed=0, preset="single", settings=settings, data=str(directory))
    record = finish(Run.begin(filling, tmp_path / "run"))
    there = RunDirectory(tmp_path / "run").config()
    assert record.substituted == there["substituted"]
    assert "90 stories of the official 1k training file" in record.substituted["1"]
    assert record.questions["train"] == 90 + 180
    assert RunConfig.of(tmp_path / "run") == filling
    beside.unlink()
    with pytest.raises(UserError, match="no longer what the run"):
        Run.resume(tmp_path / "run")


def test_two_processes_do_not_share_a_run(data, tmp_path) -> None:
    first = Run.begin(config(data), tmp_path / "run").events()
    next(first)
    with pytest.raises(UserError, match="another process is working on this run"):
        next(Run.resume(tmp_path / "run").events())
    first.close()
    next(Run.resume(tmp_path / "run").events())


def test_a_run_of_some_minutes_ends_in_the_middle_of_an_epoch_with_a_scored_model(
    data, tmp_path
) -> None:
    limited = config(data, minutes="0.0000001", valid_stories="7")
    run = Run.begin(limited, tmp_path / "run")
    events = list(run.events())
    assert run.ended
    assert run.trainer.progress.step == 1
    assert [type(event).__name__ for event in events] == ["Stepped", "Evaluated", "Stopped"]
    record = run.finish()
    assert record.stopped == "after 1e-07 min, as `minutes` says"
    assert record.questions["valid"] == 7 * 2
    assert record.best_step == 1
    assert Reader.load(tmp_path / "run").vocabulary.words == run.vocabulary.words
