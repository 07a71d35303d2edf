"""The experiments as lists of runs, and how long they take."""

from pathlib import Path

import pytest

from experiments.tiny import write_data
from tpr_rnn.errors import UserError
from tpr_rnn.experiments.catalogue import EXPERIMENTS, find_experiment
from tpr_rnn.experiments.forecast import Forecast, typical
from tpr_rnn.experiments.grid import Request
from tpr_rnn.settings import first_difference
from tpr_rnn.training.presets import preset

OUT = Path("out")


def grid(name: str, **asked):
    return find_experiment(name)(Request(out=OUT, **({"seeds": range(2)} | asked)))


def test_single_task_is_a_run_for_each_task_and_seed() -> None:
    jobs = grid("single-task", seeds=range(5))
    assert len(jobs) == 100
    assert jobs[7].directory == OUT / "single" / "task-2" / "seed-2"
    config = jobs[7].config
    assert (config.task, config.seed, config.preset) == ("2", 2, "single")
    assert (config.experiment, config.variant) == ("single-task", "single")
    assert config.threads == 1
    assert len({job.directory for job in jobs}) == 100


def test_a_preset_and_settings_can_be_chosen() -> None:
    (job,) = grid(
        "single-task",
        tasks=("19",),
        seeds=range(7, 8),
        preset="paper-single",
        settings={"epochs": "3"},
        threads=2,
        device="cuda:1",
    )
    assert (job.config.threads, job.config.device) == (2, "cuda:1")
    assert job.directory == OUT / "paper-single" / "task-19" / "seed-7"
    assert job.config.settings.recipe.epochs == 3
    assert job.name == "paper-single task 19 seed 7"


def test_compare_is_a_run_of_each_system_alone_on_all_tasks_and_with_new_names() -> None:
    jobs = grid("compare")
    assert {job.config.settings.architecture for job in jobs} >= {"tpr-rnn", "memn2n", "entnet"}
    assert len({job.directory for job in jobs}) == len(jobs)
    assert {job.config.experiment for job in jobs} == {"compare"}
    of_one = grid("compare", preset="entnet-all", seeds=range(1))
    assert [(job.config.task, job.variant) for job in of_one] == [
        ("all", "entnet-all"),
        ("systematic", "entnet-all"),
    ]
    some = grid("compare", preset="entnet", tasks=("1", "2"))
    assert [job.directory for job in some] == [
        OUT / "single-task" / "entnet" / f"task-{task}" / f"seed-{seed}"
        for task in "12"
        for seed in range(2)
    ]
    with pytest.raises(UserError, match=r"no system 'lstm'; there are single, memn2n"):
        grid("compare", preset="lstm")


def test_word_level_is_a_model_for_each_task_and_one_of_all() -> None:
    jobs = grid("word-level", seeds=range(1))
    assert [job.config.task for job in jobs] == [*map(str, range(1, 21)), "all"]
    assert [job.config.task for job in grid("word-level", tasks=("3",), seeds=range(1))] == ["3"]


def test_ablation_is_a_run_for_each_choice_of_operations_too() -> None:
    jobs = grid("ablation", tasks=("1", "2"))
    assert len(jobs) == 4 * 2 * 2
    operations = {job.variant: job.config.settings.model["operations"] for job in jobs}
    assert operations == {
        "W": ["write"],
        "W+M": ["write", "move"],
        "W+B": ["write", "backlink"],
        "W+M+B": ["write", "move", "backlink"],
    }
    assert jobs[0].directory == OUT / "W" / "task-1" / "seed-0"
    with pytest.raises(UserError, match="chooses the operations itself"):
        grid("ablation", settings={"operations": "write"})


def test_changes_are_taken_back_one_by_one() -> None:
    jobs = grid("recipe-ablation", settings={"epochs": "3"})
    assert len(jobs) == 6 * 2
    ours = preset("all").with_settings({"epochs": "3"})
    assert jobs[0].config.settings == ours
    assert jobs[0].directory == OUT / "all" / "seed-0"
    papers = preset("paper-all").all_settings()
    taken_back = {}
    for job in jobs[2:]:
        difference = first_difference(job.config.settings.all_settings(), ours.all_settings())
        assert difference is not None
        assert difference.wanted == papers[difference.name]
        taken_back[job.variant] = difference.name
    assert sorted(taken_back.values()) == [
        "bounded_keys",
        "embedding_scale",
        "error_weighted_share",
        "linear_keys",
        "sentence_dropout",
    ]
    with pytest.raises(UserError, match="changes error_weighted_share itself"):
        grid("recipe-ablation", settings={"error_weighted_share": "0.1"})


def test_all_tasks_is_a_run_for_each_seed() -> None:
    jobs = grid("all-tasks")
    assert [job.directory for job in jobs] == [OUT / "all" / "seed-0", OUT / "all" / "seed-1"]
    assert {(job.config.task, job.config.preset) for job in jobs} == {("all", "all")}
    assert jobs[0].name == "all seed 0"


def test_random_names_are_a_change_of_all_tasks() -> None:
    jobs = grid("random-names", settings={"epochs": "3"})
    assert [job.directory for job in jobs] == [OUT / "random-names" / f"seed-{n}" for n in (0, 1)]
    changes = {"random_name_share": "0.7", "sentence_dropout": "0.05", "accept_below": "5"}
    assert jobs[0].config.settings == preset("all").with_settings({"epochs": "3"} | changes)
    assert (jobs[0].config.experiment, jobs[0].config.variant) == ("random-names", "random-names")
    with pytest.raises(UserError, match="changes accept_below itself"):
        grid("random-names", settings={"accept_below": "2"})


def test_tasks_that_cannot_be_had_are_refused(tmp_path) -> None:
    data = write_data(tmp_path / "data", 1, 3)
    (data / "qa3_train.txt").unlink()  # a gap that is substituted
    assert len(grid("single-task", data=data, tasks=("1", "3"))) == 4
    with pytest.raises(UserError, match="no file of task '2'; there are 1, 3"):
        grid("single-task", data=data)
    with pytest.raises(UserError, match="there is no task '21'"):
        grid("single-task", tasks=("21",))


def test_unknown_experiments_are_refused() -> None:
    with pytest.raises(UserError, match=f"there are {', '.join(EXPERIMENTS)}"):
        find_experiment("everything")


def test_time_left_is_learned_from_finished_runs() -> None:
    one, other, third = grid("single-task", tasks=("1", "2", "3"), seeds=range(1))
    forecast = Forecast()
    assert forecast.left([one, other], [], workers=1) is None
    forecast.learn(one, 10.0)
    scale = 10.0 / typical("1")
    assert forecast.left([one, one, one], [], workers=1) == 30
    assert forecast.left([one, one, one, one], [], workers=2) == 20
    assert forecast.left([other], [], workers=1) == pytest.approx(scale * typical("2"))
    # The longest run bounds the time, however many workers there are.
    assert forecast.left([one, third], [], workers=9) == pytest.approx(scale * typical("3"))
    forecast.learn(one, 20.0)
    assert forecast.left([one], [], workers=1) == 15
    assert forecast.left([], [(one, 5.0, 0.1)], workers=1) == 10
    assert forecast.left([], [(one, 50.0, 0.9)], workers=1) == 0


def test_time_left_is_guessed_from_running_ones_where_none_is_finished() -> None:
    one, other = grid("all-tasks")
    forecast = Forecast()
    assert forecast.left([other], [(one, 1.0, 0.001)], workers=1) is None
    assert forecast.left([other], [(one, 100.0, 0.25)], workers=1) == 300 + 400
