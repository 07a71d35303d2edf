"""New names and swapped names, from the stories to the record of a run."""

import json
from dataclasses import dataclass

import pytest
import torch
from msgspec import to_builtins
from torch.nn.functional import one_hot

from data.small import PAIRS, few_pairs, write_tasks
from tpr_rnn.cli import main
from tpr_rnn.data.babi.swapped_names import SWAPPED, SWAPPED_NAMES, SWAPS
from tpr_rnn.data.babi.systematic import PLANS, TASKS
from tpr_rnn.data.dataset import Combination
from tpr_rnn.data.encoding import build_vocabulary
from tpr_rnn.data.names import with_names
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.probes import Evaluator
from tpr_rnn.evaluation.record import RunRecord, read_record
from tpr_rnn.models.lstm import LSTMReader
from tpr_rnn.models.model import Model, ModelConfig
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.final_test import score_test
from tpr_rnn.training.presets import preset, preset_name
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig, corpus_for

FAST = {"epochs": "1", "decay_epochs": "0", "batch_size": "64", "warmup_steps": "0"}


@dataclass(frozen=True, kw_only=True)
class BiasedConfig(ModelConfig):
    dislikes: int

    def summary(self) -> str:
        return "biased"


class Biased(Model):
    """Is told every answer, but gets those wrong whose question has a certain word."""

    def forward(self, batch):
        questions = torch.cat([batch.questions[group.question] for group in batch.groups])
        disliked = (questions == self.config.dislikes).any(dim=1)
        return one_hot(torch.where(disliked, 0, batch.answer), self.config.vocabulary_size).double()


def evaluator(stories: list[Story], dislikes: str) -> Evaluator:
    vocabulary = build_vocabulary(stories)
    config = BiasedConfig(
        vocabulary_size=len(vocabulary), max_words=9, dislikes=vocabulary.number(dislikes)
    )
    return Evaluator(Reader(Biased(config), vocabulary), {})


def about(name: str) -> Story:
    told = ("John left the kitchen.", "Daniel left the kitchen.")
    return Story(told, (Question(f"Where is {name}?", "garden", 2),))


def test_new_names_are_scored_by_task_and_the_questions_about_them_apart() -> None:
    stories = [with_names(about(name), {"John": "Alex"}) for name in ("John", "Daniel") * 2]
    stories += [with_names(about("Daniel"), {"John": "Alex"})]
    everything = {
        Combination("Alex", "1", True): stories,
        Combination("Alex", "6", False): stories[:1],
        Combination("Logan", "1", False): [with_names(about("John"), {"John": "Logan"})],
    }
    found = evaluator([story for part in everything.values() for story in part], "alex").new_names(
        everything
    )
    assert to_builtins(found) == {
        "Alex": {
            "1": {"trained": True, "accuracy": 60.0, "asked_accuracy": 0.0},
            "6": {"trained": False, "accuracy": 0.0, "asked_accuracy": 0.0},
        },
        "Logan": {"1": {"trained": False, "accuracy": 100.0, "asked_accuracy": 100.0}},
    }


def test_swapped_names_count_every_question_alike_and_only_tasks_of_the_test() -> None:
    stories_of = {
        "1": [about("John"), about("Daniel"), about("Mary")],
        "4": [about("Fred")],
        "14": [about("Fred")],
    }
    known = [*stories_of["1"], *stories_of["4"], about("Bill")]
    known += [with_names(about("John"), {"John": "Bill", "Daniel": "Fred"})]
    assert to_builtins(evaluator(known, "fred").probe(stories_of, SWAPPED_NAMES)) == {
        "error": 25.0,
        "plain_error": 25.0,
        "per_part": {
            "1": {"error": 33.3333, "plain_error": 0.0},
            "14": {"error": 0.0, "plain_error": 100.0},
        },
    }


def train(task: str, data, directory, name: str | None = None, **settings) -> RunRecord:
    name = name or preset_name("default", task)
    config = RunConfig(
        task=task,
        seed=0,
        preset=name,
        settings=preset(name).with_settings(FAST | settings),
        data=str(data),
    )
    run = Run.begin(config, directory)
    for _ in run.events():
        pass
    assert run.finish().test is None
    return score_test(directory, "a test")


@pytest.mark.parametrize("name", ["systematic", "lstm"])
def test_a_run_with_new_names_has_the_matrix_in_its_record(name, tmp_path, capsys) -> None:
    data = write_tasks(tmp_path / "data", TASKS)
    directory = tmp_path / "run"
    with few_pairs():
        record = train("systematic", data, directory, name, hidden_size="8")
        matrix = to_builtins(record.new_names.per_name)
        trained = {
            name: sum(each["trained"] for each in row.values()) for name, row in matrix.items()
        }
        assert trained == PLANS["systematic"].names
        assert all(list(row) == list(TASKS) for row in matrix.values())
        right = [each["accuracy"] * PAIRS / 100 for row in matrix.values() for each in row.values()]
        assert right == pytest.approx([round(number) for number in right], abs=1e-3)
        assert list(record.test.per_task) == list(TASKS)
        assert read_record(directory / "result.json") == record

        capsys.readouterr()
        with pytest.raises(SystemExit) as done:
            main(["evaluate", str(directory), "--data", str(data), "--split", "test", "--json"])
        assert done.value.code == 0
        told = capsys.readouterr()
        assert json.loads(told.out)["new_names"] == matrix
        assert "Logan" in told.err
        corpus, _ = corpus_for(directory, data, ["valid"])
        assert not corpus.combinations
    if name == "lstm":
        assert (record.architecture, record.kernel) == ("lstm", None)
        assert isinstance(Reader.load(directory).model, LSTMReader)


def test_a_run_of_all_tasks_takes_the_swapped_names_test(tmp_path, capsys) -> None:
    data = write_tasks(tmp_path / "data", SWAPS, stories=5)
    small = {"hidden_size": "8", "entity_size": "8", "learning_rate": "0.01"}
    swapped = train("all", data, tmp_path / "all", **small).probes[SWAPPED]
    assert list(swapped.per_part) == [str(task) for task in SWAPS]
    assert swapped.plain_error != swapped.error
    options = ["--data", str(data), "--split", "test", "--swap-names", "--json"]
    with pytest.raises(SystemExit) as done:
        main(["evaluate", str(tmp_path / "all"), *options])
    assert done.value.code == 0
    told = capsys.readouterr()
    errors = json.loads(told.out)["probes"][SWAPPED]
    assert errors | {"when": swapped.when, "command": "a test"} == to_builtins(swapped)
    assert "swapped-names" in told.err

    alone = train("1", data, tmp_path / "one", attempts="1", start_decay_below="none")
    assert alone.probes == {}
    with pytest.raises(SystemExit) as done:
        main(["evaluate", str(tmp_path / "one"), "--data", str(data), "--swap-names"])
    assert done.value.code == 2
    assert f"{tmp_path / 'one'} has no task 2, 3" in capsys.readouterr().err

    few = write_tasks(tmp_path / "few", ["1", "2"])
    with pytest.raises(SystemExit) as done:
        main(["evaluate", str(tmp_path / "all"), "--data", str(few), "--swap-names"])
    assert done.value.code == 2
    assert f"{few} has no task 3, 6" in capsys.readouterr().err


@pytest.mark.parametrize("tasks", [[], [99], ["x"]])
def test_a_run_whose_tasks_make_no_sense_is_refused(tmp_path, tasks) -> None:
    data = write_tasks(tmp_path / "data", ["1"])
    run = tmp_path / "run"
    train("1", data, run, attempts="1", start_decay_below="none")
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(config | {"tasks": tasks}))
    with pytest.raises(UserError, match=r"it has the tasks 1; none of them is one .* trained on"):
        corpus_for(run, data, ["valid"])
