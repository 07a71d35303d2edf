"""Stories, and a model that was trained on them with the commands of a person."""

import pytest

from cli.command import ONCE, run


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("data")
    done = run("data", "generate", "--task", "1", "--questions", "1000", "--out", str(directory))
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="session")
def trained(data, tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "one"
    settings = ("--set", "epochs=40", "--set", "batch_size=32", *ONCE)
    done = run("train", "--task", "1", "--data", str(data), "--out", str(directory), *settings)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture
def story(tmp_path):
    path = tmp_path / "story.txt"
    path.write_text("Mary went to the kitchen.\nJohn moved to the garden.\n")
    return path
