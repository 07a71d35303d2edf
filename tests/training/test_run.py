"""A run on disk: what it records, what it refuses, and when it ends."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from tpr_rnn.data.babi import substitutes
from tpr_rnn.data.corpus import load_corpus
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.probes import Evaluator
from tpr_rnn.memory import native
from tpr_rnn.models.reader import Reader
from tpr_rnn.training import run as run_module
from tpr_rnn.training.final_test import score_test
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run, train
from tpr_rnn.training.run_config import RunConfig
from tpr_rnn.training.run_directory import RunDirectory
from training.runs import SOURCE, comparable, config, finish


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


def test_train_returns_the_record_of_a_run_with_the_default_preset(data, tmp_path) -> None:
    once = {"epochs": "1", "attempts": "1", "decay_epochs": "0", "start_decay_below": "none"}
    record = train(1, data=data, out=tmp_path / "run", seed=4, settings=once)
    assert record == RunDirectory(tmp_path / "run").record()
    assert (record.preset, record.seed, record.threads, record.steps) == ("single", 4, 1, 1)


def test_more_threads_than_cores_are_refused(data, tmp_path, monkeypatch) -> None:
    for cores, most in ((None, 1), (3, 3)):
        monkeypatch.setattr(run_module.os, "cpu_count", lambda cores=cores: cores)
        asked = replace(config(data), threads=most + 1)
        with pytest.raises(UserError, match=f"from 1 to {most} on this machine, not {most + 1}"):
            Run.begin(asked, tmp_path / "run")


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


def test_a_directory_of_somebodys_files_is_left_alone(data, tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UserError, match=r"holds files, but no run \(thesis.tex\); choose another"):
        Run.begin(config(data), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_field_of_the_configuration_that_nobody_knows_is_refused(undisturbed, tmp_path) -> None:
    content = json.loads((undisturbed / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(content | {"unheard_of": 1}))
    with pytest.raises(UserError, match=r"config\.json: .*unheard_of"):
        RunConfig.of(tmp_path)


def test_a_run_is_not_begun_twice(data, undisturbed) -> None:
    with pytest.raises(UserError, match="there is a run already; add --resume"):
        Run.begin(config(data), undisturbed)


def test_checkpoints_are_spaced_in_time(data, tmp_path, monkeypatch) -> None:
    saved = []
    monkeypatch.setattr(RunDirectory, "save_checkpoint", lambda *_: saved.append(1))
    finish(Run.begin(config(data), tmp_path / "rare"))
    assert len(saved) == 1  # at the end, so that even the scoring may be interrupted
    monkeypatch.setattr(run_module, "CHECKPOINT_SECONDS", 0.0)
    finish(Run.begin(config(data), tmp_path / "often"))
    assert len(saved) == 1 + 6 * 12 + 6 + 1  # and between any two events


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
