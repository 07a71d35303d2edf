"""Tiny stories, and a run on them that nothing disturbed, for every file that asks."""

import pytest

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.story import Question, Story
from tpr_rnn.training import run as run_module
from tpr_rnn.training.run import Run
from training.runs import SOURCE, config, finish


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def undisturbed(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "source", lambda: SOURCE)
        finish(Run.begin(config(data), directory))
    return directory
