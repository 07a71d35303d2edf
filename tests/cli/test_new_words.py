import json

import pytest
import torch

from tpr_rnn.cli import main
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.new_words import SLOTS
from tpr_rnn.models.reader import Reader


@pytest.fixture
def model(tmp_path):
    """The file of a model with slots, that has learned nothing."""
    slots = [slot for of_kind in SLOTS.values() for slot in of_kind]
    vocabulary = Vocabulary(["went", "to", "the", "where", "is", ".", "?", *slots])
    config = TPRRNNConfig(vocabulary_size=len(vocabulary), max_words=9, hidden_size=4)
    reader = Reader(TPRRNN(config, generator=torch.Generator().manual_seed(0)), vocabulary)
    reader.save(tmp_path / "model.safetensors")
    (tmp_path / "story.txt").write_text("Alice went to the library.\n")
    return tmp_path


def ask(model, *more: str) -> list[str]:
    story = ("--story", str(model / "story.txt"))
    return ["ask", str(model), *story, "--question", "Where is Alice?", *more]


def status(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as done:
        main(arguments)
    return done.value.code or 0


def test_ask_says_what_it_takes_new_words_for(model, capsys) -> None:
    assert status(ask(model, "--json")) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["new_words"] == {"alice": "name", "library": "place"}
    assert "library: a place, like kitchen" in said.err


def test_the_user_can_say_otherwise(model, capsys) -> None:
    assert status(ask(model, "--word", "Library=thing", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["new_words"]["library"] == "thing"
    assert status(ask(model, "--word", "library")) == 2
    assert "such as library=place" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("zoo=place", "neither story nor question has the word 'zoo'"),
        ("went=thing", "the model knows 'went'; only new words can be chosen"),
    ],
)
def test_only_of_a_new_word_one_says_what_it_is(model, capsys, word, message) -> None:
    assert status(ask(model, "--word", word)) == 2
    assert message in capsys.readouterr().err


def test_a_model_without_slots_says_so(model, capsys) -> None:
    vocabulary = Vocabulary(["went", "to", "the", "where", "is", ".", "?"])
    config = TPRRNNConfig(vocabulary_size=len(vocabulary), max_words=9, hidden_size=4)
    Reader(TPRRNN(config), vocabulary).save(model / "model.safetensors")
    assert status(ask(model, "--word", "alice=name")) == 2
    assert "this model takes no new words" in capsys.readouterr().err


def test_the_prompt_takes_new_words_too(model, capsys, monkeypatch) -> None:
    lines = iter(["word Lantern=thing", "Bob went to the lantern.", "Where is Bob?", "quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    assert status(["ask", str(model)]) == 0
    said = capsys.readouterr().out
    assert "lantern: a thing, like milk" in said
    assert "bob: a name, like mary" in said
