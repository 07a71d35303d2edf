"""The kinds of models by name. A new one is a file of its own and a line here."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch

from tpr_rnn.errors import UserError, quoted
from tpr_rnn.models.dmn import DMN, DMNConfig
from tpr_rnn.models.dnc import DNC, DNCConfig
from tpr_rnn.models.entnet import EntNet, EntNetConfig
from tpr_rnn.models.layer_reader import LayerReader, LayerReaderConfig
from tpr_rnn.models.lstm import LSTMReader, LSTMReaderConfig, WordLSTM, WordLSTMConfig
from tpr_rnn.models.memn2n import MemN2N, MemN2NConfig
from tpr_rnn.models.model import Model, ModelConfig
from tpr_rnn.models.sdnc import SDNC, SDNCConfig
from tpr_rnn.models.tpr_rnn import TPRRNN, TPRRNNConfig
from tpr_rnn.models.word_level import WordLevel, WordLevelConfig


@dataclass(frozen=True)
class Architecture:
    """A kind of model."""

    title: str
    """What tables call it."""
    config: type[ModelConfig]
    model: type[Model]


TPR_RNN = "tpr-rnn"
"""The kind that is meant where none is named, as in runs that are older than the choice."""

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        TPR_RNN: Architecture("TPR-RNN", TPRRNNConfig, TPRRNN),
        "lstm": Architecture("LSTM", LSTMReaderConfig, LSTMReader),
        "dmn": Architecture("DMN+", DMNConfig, DMN),
        "entnet": Architecture("EntNet", EntNetConfig, EntNet),
        "memn2n": Architecture("MemN2N", MemN2NConfig, MemN2N),
        "word-level": Architecture("word-level TPR-RNN", WordLevelConfig, WordLevel),
        "word-lstm": Architecture("LSTM over words", WordLSTMConfig, WordLSTM),
        "layer": Architecture("small model around a layer", LayerReaderConfig, LayerReader),
        "dnc": Architecture("DNC", DNCConfig, DNC),
        "sdnc": Architecture("SDNC", SDNCConfig, SDNC),
    }
)


def find_architecture(name: str) -> Architecture:
    """The kind of that name."""
    if name not in ARCHITECTURES:
        raise UserError(
            f"unknown architecture {quoted(name)}; there are {', '.join(ARCHITECTURES)}"
        )
    return ARCHITECTURES[name]


def architecture_of(config: ModelConfig) -> str:
    """The name of the kind that a configuration is for."""
    for name, architecture in ARCHITECTURES.items():
        if type(config) is architecture.config:
            return name
    raise ValueError(f"{type(config).__name__} is not in the registry")


def make_model(config: ModelConfig, generator: torch.Generator | None = None) -> Model:
    """A fresh model of the kind that a configuration is for.

    Torch's own layers draw their weights from its global generator, which is therefore seeded like
    `generator` meanwhile.
    """
    model = ARCHITECTURES[architecture_of(config)].model
    if generator is None:
        return model(config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(generator.initial_seed())
        return model(config, generator=generator)
