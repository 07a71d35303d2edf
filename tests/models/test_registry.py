"""Kinds of models by name, from settings to files and back."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.files import read_tensors
from tpr_rnn.models import registry
from tpr_rnn.models.lstm import LSTMReader, LSTMReaderConfig
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.registry import (
    ARCHITECTURES,
    Architecture,
    architecture_of,
    find_architecture,
    make_model,
)
from tpr_rnn.training.preset import Preset
from tpr_rnn.training.presets import preset

WORDS = Vocabulary(["mary", "went", "home", ".", "where", "is", "?"])
QUESTION = ["Mary went home."], "Where is Mary?"


def reader(name: str) -> Reader:
    config = find_architecture(name).config.from_json(
        {"vocabulary_size": len(WORDS), "max_words": 4}
    )
    return Reader(make_model(config, torch.Generator().manual_seed(0)), WORDS)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_kind_is_saved_and_loaded_as_what_it_is(name, tmp_path) -> None:
    saved = reader(name)
    saved.save(tmp_path / "model.safetensors")
    loaded = Reader.load(tmp_path)
    assert architecture_of(loaded.model.config) == name
    assert loaded.model.config == saved.model.config
    assert loaded.answer(*QUESTION) == saved.answer(*QUESTION)


def test_a_file_of_before_names_no_kind_and_has_no_checksum(tmp_path) -> None:
    path = tmp_path / "model.safetensors"
    saved = reader("tpr-rnn")
    saved.save(path)
    description, _ = read_tensors(path)
    del description["model"]
    assert "checksum" not in description
    save_file(load_file(path), path, {"tpr-rnn": json.dumps(description)})
    assert Reader.load(path).answer(*QUESTION) == saved.answer(*QUESTION)


def test_layers_that_torch_initialises_repeat_with_the_seed_too(monkeypatch) -> None:
    class Plain(LSTMReader):
        def __init__(self, config, *, generator=None) -> None:
            super().__init__(config, generator=generator)
            self.layer = torch.nn.Linear(3, 3)

    lstm = Architecture("LSTM", LSTMReaderConfig, Plain)
    monkeypatch.setattr(registry, "ARCHITECTURES", {"lstm": lstm})
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    one, same, other = (
        make_model(
            LSTMReaderConfig(vocabulary_size=4, max_words=3), torch.Generator().manual_seed(seed)
        ).state_dict()
        for seed in (1, 1, 2)
    )
    assert all(torch.equal(tensor, same[name]) for name, tensor in one.items())
    assert not torch.equal(one["layer.weight"], other["layer.weight"])
    assert torch.equal(torch.rand(2), expected), "others' random numbers are left alone"


def test_settings_that_name_no_kind_are_of_a_tpr_rnn() -> None:
    old = preset("single").as_json()
    del old["architecture"]
    assert Preset.from_json(old) == preset("single")


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UserError, match="unknown architecture 'gru'; there are tpr-rnn, lstm"):
        preset("single").with_settings({"architecture": "gru"})


def test_another_kind_starts_from_its_own_defaults_and_keeps_the_recipe() -> None:
    changed = preset("single").with_settings({"architecture": "lstm", "hidden_size": "7"})
    assert changed.recipe == preset("single").recipe
    assert changed.model == {"hidden_size": 7}
    assert changed.all_settings()["architecture"] == "lstm"
    with pytest.raises(
        UserError, match="bounded_keys is no setting of the LSTM; it is one of tpr-rnn"
    ):
        preset("single").with_settings({"architecture": "lstm", "bounded_keys": "true"})


def test_only_a_tpr_rnn_has_a_memory_to_look_into() -> None:
    with pytest.raises(UserError, match=r"only a TPR-RNN has a memory .* this model is: LSTM"):
        trace(reader("lstm"), *QUESTION)
