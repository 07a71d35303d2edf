from pathlib import Path

import pytest

from data.small import write_tasks
from tpr_rnn.data.babi.systematic import TASKS
from tpr_rnn.errors import UserError
from tpr_rnn.experiments.catalogue import find_experiment
from tpr_rnn.experiments.forecast import typical
from tpr_rnn.experiments.grid import Request

OUT = Path("out")


@pytest.mark.parametrize("name", ["systematic", "systematic-valid"])
def test_a_tpr_rnn_and_an_lstm_for_each_seed(name) -> None:
    jobs = find_experiment(name)(Request(out=OUT, seeds=range(2)))
    assert [job.directory for job in jobs] == [
        OUT / preset / f"seed-{seed}" for preset in ("systematic", "lstm") for seed in (0, 1)
    ]
    assert {job.config.task for job in jobs} == {name}
    kinds = {job.config.preset: job.config.settings.architecture for job in jobs}
    assert kinds == {"systematic": "tpr-rnn", "lstm": "lstm"}
    assert jobs[0].name == "systematic seed 0"


def test_a_preset_that_is_asked_for_alone() -> None:
    request = Request(
        out=OUT, seeds=range(1), preset="systematic", settings={"bounded_keys": "false"}
    )
    (job,) = find_experiment("systematic")(request)
    assert job.config.settings.model["bounded_keys"] is False


def test_a_setting_that_one_kind_of_model_lacks_is_told_with_its_preset() -> None:
    request = Request(out=OUT, seeds=range(1), settings={"entity_size": "8"})
    with pytest.raises(
        UserError, match=r"preset lstm: entity_size is no setting.*--preset systematic runs"
    ):
        find_experiment("systematic")(request)


def test_a_task_that_is_missing_is_named_before_any_run(tmp_path) -> None:
    data = write_tasks(tmp_path, TASKS[:1])
    with pytest.raises(UserError, match="no file of task '6'"):
        find_experiment("systematic")(Request(out=OUT, seeds=range(1), data=data))


def test_it_costs_less_than_all_tasks_and_more_than_any_of_its_own() -> None:
    assert max(typical(str(task)) for task in TASKS) < typical("systematic") < typical("all")
