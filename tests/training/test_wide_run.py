from pathlib import Path

import pytest

from data.small import write_tasks
from tpr_rnn.data import wide
from tpr_rnn.data.simulator import splits
from tpr_rnn.data.simulator.wide import WIDE_TASKS
from tpr_rnn.training.final_test import score_test
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig, corpus_for


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a tiny model on two official tasks and a wide one."""
    place = tmp_path_factory.mktemp("wide")
    small = {"epochs": "1", "decay_epochs": "1", "hidden_size": "4", "entity_size": "3"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "TEST_QUESTIONS", 10)
        for size in ("WIDE_QUESTIONS", "MORE_QUESTIONS", "VALID_QUESTIONS"):
            patch.setattr(wide, size, 20)
        patch.setattr(wide, "WIDE_TASKS", {"wide-rooms": WIDE_TASKS["wide-rooms"]})
        config = RunConfig(
            task="all+wide",
            seed=0,
            preset="bundled",
            settings=preset("bundled").with_settings(small),
            data=str(write_tasks(place / "data", ["1", "6"], stories=5)),
        )
        run = Run.begin(config, place / "run")
        for _ in run.events():
            pass
        record = run.finish()
        assert [*record.valid.per_task] == ["1", "6", "wide-rooms"]
        score_test(place / "run", "a test")
    return place / "run"


def test_it_is_scored_on_official_stories_alone_for_the_suite_has_the_wide_ones(run: Path) -> None:
    test = score_test(run, "again").test
    assert test is not None
    assert [*test.per_task] == ["1", "6"]
    corpus, others = corpus_for(run, run.parent / "data", ["valid"])
    assert ([*corpus.stories], others) == (["1", "6"], [])
