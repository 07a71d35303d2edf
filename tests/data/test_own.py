"""Your own data: files of any name in bAbI's format."""

import json
import shutil
from itertools import product

import pytest

from tpr_rnn.cli import main
from tpr_rnn.data.corpus import TRAINING, load_corpus
from tpr_rnn.data.describe import describe
from tpr_rnn.data.registry import find_data_set
from tpr_rnn.errors import UserError
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.final_test import score_test
from tpr_rnn.training.run import train

SHORT = {"epochs": "2", "ramp_epochs": "1", "decay_epochs": "1", "attempts": "1"}


@pytest.fixture
def data(tmp_path):
    """Two tasks: walks with a test file, and strolls with one to train on alone."""
    directory = tmp_path / "own"
    directory.mkdir()
    told = [
        f"1 Zoe went to the {a}.\n2 Yann went to the {b}.\n3 Where is Zoe?\t{a}\t1\n"
        for a, b in product(("attic", "pond", "shed"), repeat=2)
    ]
    for name in ("walks_train", "walks_test", "long strolls_train"):
        (directory / f"{name}.txt").write_text("".join(3 * told))
    return directory


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main([*arguments])
    return done.value.code


def test_tasks_are_known_by_the_names_of_their_files(data) -> None:
    data_set, files = find_data_set(data)
    assert data_set.name == "own"
    assert list(files) == ["long strolls", "walks"]
    assert not find_data_set(data)[0].max_sentences(files)  # stories are read whole
    (strolls, walks), missing_tasks = describe(data)
    assert strolls.questions == {"train": 27}
    assert walks.questions == {"train": 27, "test": 27}
    assert missing_tasks == []
    corpus = load_corpus(data, "all", needed=TRAINING)
    assert {task: list(splits) for task, splits in corpus.stories.items()} == {
        "long strolls": ["train", "valid"],
        "walks": ["train", "valid", "test"],
    }
    assert len(corpus.stories["walks"]["valid"]) == 2


def test_a_run_remembers_where_its_stories_are(data, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("TPR_RNN_DATA", str(tmp_path / "elsewhere"))
    run = tmp_path / "run"
    record = train("walks", data=data, out=run, settings=SHORT)
    assert (record.task, record.data, record.questions["test"]) == ("walks", "own", 27)
    assert Reader.load(run).max_sentences is None
    assert command("evaluate", str(run), "--split", "test", "--json") == 0
    assert list(json.loads(capsys.readouterr().out)["per_task"]) == ["walks"]
    story = tmp_path / "story.txt"
    story.write_text("Zoe went to the pond.\n")
    assert command("ask", str(run), "--story", str(story), "--question", "Where is Zoe?") == 0

    assert command("evaluate", str(run), "--swap-names") == 2
    told = capsys.readouterr().err
    assert "there is no probe swapped-names of such stories (own), only wide" in told
    shutil.move(data, tmp_path / "moved")
    assert command("evaluate", str(run)) == 2
    assert "give --data with the directory where its stories are now" in capsys.readouterr().err


def test_tasks_without_a_test_file_are_trained_and_left_out_of_the_test(data, tmp_path) -> None:
    train("all", data=data, out=tmp_path / "all", preset="single", settings=SHORT)
    test = score_test(tmp_path / "all", "a test").test
    assert test is not None
    assert list(test.per_task) == ["walks"]
    record = train("long strolls", data=data, out=tmp_path / "one", settings=SHORT)
    assert record.questions == {"train": 25, "valid": 2, "test": 0}
    with pytest.raises(UserError, match="own: there is no test file of task long strolls"):
        score_test(tmp_path / "one", "a test")


def test_what_is_wrong_is_said_with_its_place(data) -> None:
    with pytest.raises(
        UserError, match=r"own: no file of task 'x'; there are long strolls, walks \(and all\)"
    ):
        load_corpus(data, "x")
    (data / "long strolls_train.txt").rename(data / "long strolls_valid.txt")
    with pytest.raises(UserError, match="task long strolls has no train file there"):
        load_corpus(data, "all", needed=TRAINING)
    (data / "walks_test.txt").write_text("1 Zoe left.\n3 Who left?\tzoe\t1\n")
    with pytest.raises(UserError, match=r"walks_test.txt:2: the line is numbered 3"):
        load_corpus(data, "walks")
    (data / "all_train.txt").write_text("1 Zoe left.\n2 Who left?\tzoe\t1\n")
    with pytest.raises(UserError, match=r"all_train.txt: all is no name for a task"):
        load_corpus(data, "walks")
