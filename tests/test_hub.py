"""Models as the Hugging Face Hub has them."""

import json
from dataclasses import fields
from typing import Any

import pytest
import torch

from tpr_rnn import hub
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.record import read_record
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.registry import find_architecture, make_model
from tpr_rnn.models.tpr_rnn import TPRRNN, TPRRNNConfig
from tpr_rnn.pretrained import load_pretrained, pretrained_run

STORY, QUESTION = ("mary went to the kitchen", "mary took the milk"), "where is mary"
WORDS = sorted({word for text in (*STORY, QUESTION) for word in text.split()})


def make_reader(architecture: str = "tpr-rnn", **settings) -> Reader:
    vocabulary = Vocabulary(["<pad>", *WORDS])
    sizes = {"vocabulary_size": len(vocabulary), "max_words": 6}
    config = find_architecture(architecture).config.from_json({**sizes, **settings})
    model = make_model(config, torch.Generator().manual_seed(1))
    return Reader(model.eval(), vocabulary, max_sentences=7, temperature=1.5)


@pytest.mark.parametrize("architecture", ["tpr-rnn", "lstm", "entnet"])
def test_what_is_saved_is_loaded(tmp_path, architecture) -> None:
    reader = make_reader(architecture)
    reader.save_pretrained(tmp_path / "model")
    again = Reader.from_pretrained(tmp_path / "model")
    assert again.answer(STORY, QUESTION) == reader.answer(STORY, QUESTION)
    assert again.description() == reader.description()
    assert {path.name for path in (tmp_path / "model").iterdir()} == set(hub.FILES)


def test_the_loader_of_the_hub_itself_reads_the_directory(tmp_path) -> None:
    from huggingface_hub import PyTorchModelHubMixin

    class OnHub(TPRRNN, PyTorchModelHubMixin):
        """The model as a class of the hub, which hands over what config.json has."""

        def __init__(self, **settings: Any) -> None:
            own = {field.name: settings[field.name] for field in fields(TPRRNNConfig)}
            super().__init__(TPRRNNConfig.from_json(own))

    reader = make_reader(operations=["write", "backlink"], bounded_keys=True)
    reader.save_pretrained(tmp_path)
    model = OnHub.from_pretrained(tmp_path)
    assert model.config == reader.model.config
    expected = reader.model.state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in model.state_dict().items())
    assert model.state_dict().keys() == expected.keys()


def test_the_card_says_to_the_hub_how_good_the_bundled_model_is(tmp_path) -> None:
    from huggingface_hub import ModelCard

    record = read_record(pretrained_run() / "result.json")
    reader = load_pretrained()
    reader.save_pretrained(tmp_path, record)
    (result,) = ModelCard.load(tmp_path / "README.md").data.eval_results
    assert record.test is not None
    assert result.metric_value == pytest.approx(100 - record.test.error, abs=1e-4)
    assert (result.dataset_split, result.metric_type) == ("test", "accuracy")
    text = (tmp_path / "README.md").read_text()
    assert f"{record.parameters:,} parameters" in text
    assert (
        f"| {record.valid.per_task['2'].error:.1f} | {record.test.per_task['2'].error:.1f} |"
        in text
    )
    again = Reader.from_pretrained(tmp_path)
    assert again.description() == reader.description()


def test_a_card_without_a_record_claims_nothing() -> None:
    assert "model-index" not in hub.card(make_reader())


def test_without_a_connection_it_says_so(monkeypatch, tmp_path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"^ann/stories: .*offline or cannot reach the hub"):
        Reader.from_pretrained("ann/stories")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", None, "config.json: no such file; a model has config.json, model.saf"),
        ("config.json", "[]", "config.json: expected a JSON object"),
        ("config.json", "{", "config.json: cannot be read"),
        ("config.json", "{}", "config.json: not that of a model which .* wrote; `Reader.load`"),
        ("config.json", {"entity_size": 0}, "not a model of tpr-rnn .entity_size must be from 1"),
        (
            "config.json",
            {"entity_size": 3},
            "not a model of tpr-rnn .Error.* in loading state_dict",
        ),
        ("config.json", {"colour": 1}, "not a model of tpr-rnn"),
        ("vocabulary.json", "{}", "vocabulary.json: expected a JSON list"),
        ("vocabulary.json", "[1]", "not a model of tpr-rnn"),
        ("model.safetensors", "damaged", "model.safetensors: damaged, or no safetensors file"),
    ],
)
def test_damaged_files_are_named(tmp_path, file, content, message) -> None:
    make_reader().save_pretrained(tmp_path)
    path = tmp_path / file
    if content is None:
        path.unlink()
    elif isinstance(content, dict):
        path.write_text(json.dumps(json.loads(path.read_text()) | content))
    else:
        path.write_text(content)
    with pytest.raises(UserError, match=message):
        Reader.from_pretrained(tmp_path)


def test_what_is_neither_a_directory_nor_a_name_is_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="no such directory; expected a directory that `Reader"):
        Reader.from_pretrained(tmp_path / "missing" / "model")
    with pytest.raises(UserError, match=r"`Reader\.load` reads the directory of a run"):
        Reader.from_pretrained(pretrained_run())
