"""The bundled model: it answers, and its card says what its record says."""

import json

import pytest
from benchmarks.release_model import card

from tpr_rnn import load_pretrained
from tpr_rnn.cli import main
from tpr_rnn.evaluation.record import read_record
from tpr_rnn.pretrained import DIRECTORY

RECORD = read_record(DIRECTORY / "result.json")
STORY = ["Mary went to the kitchen.", "John took the milk.", "John travelled to the office."]


@pytest.mark.parametrize(
    ("question", "answer"), [("Where is Mary?", "kitchen"), ("Where is the milk?", "office")]
)
def test_it_answers_questions_of_several_tasks(question, answer) -> None:
    assert load_pretrained().answer(STORY, question)[0].word == answer


def test_the_commands_need_no_run(tmp_path, capsys) -> None:
    story = tmp_path / "story.txt"
    story.write_text("\n".join(STORY))
    with pytest.raises(SystemExit) as end:
        main(["ask", "--story", str(story), "--question", "Where is Mary?", "--json"])
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "kitchen"


def test_the_card_is_that_of_the_record() -> None:
    assert (DIRECTORY / "README.md").read_text("utf-8") == card(RECORD)


def test_it_is_small_and_names_no_path() -> None:
    assert sum(path.stat().st_size for path in DIRECTORY.iterdir() if path.is_file()) < 5_000_000
    assert "/" not in json.loads((DIRECTORY / "config.json").read_text("utf-8"))["data"]
