"""A small model around one layer: what is it that the layer can remember?

A sentence is a step, a sum of vectors of its words, each by its place. The questions are steps
behind the story, which memories read with and do not store. All layers have the same model around
them, and the same number of parameters: those that a layer does not need go to the network behind
it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from tpr_rnn.data.batches import Batch, StoryGroup
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.memory import OPERATIONS, check_operations
from tpr_rnn.models.model import Model, ModelConfig
from tpr_rnn.nn import TPRMemory
from tpr_rnn.nn.delta_rule import DeltaRule

LAYERS = {
    "tpr-memory": "third-order memory",
    "delta-rule": "second-order delta rule",
    "lstm": "LSTM",
    "attention": "softmax attention",
}
ENTITY, RELATION, HOPS = 16, 8, 4
DELTA_SIZE = 45
"""A matrix of 45 x 45 is about as many numbers as a memory of 16 x 8 x 16."""
LSTM_UNITS, ATTENTION_HEADS = 50, 4


@dataclass(frozen=True, kw_only=True)
class LayerReaderConfig(ModelConfig):
    """Sizes and settings of a small model around a layer."""

    layer: str = "tpr-memory"
    """The layer: tpr-memory, delta-rule, lstm or attention."""
    operations: tuple[str, ...] = OPERATIONS
    """Of tpr-memory: what a step does to the memory; there is swap too."""
    size: int = 32
    """Dimension of a step."""
    layer_parameters: int = 20_000
    """About how many parameters the layer has together with the network behind it."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        self.check_sizes("vocabulary_size", "max_words", "size", "layer_parameters")
        if self.layer not in LAYERS:
            raise UserError(
                f"there is no layer {quoted(self.layer)}; there are {', '.join(LAYERS)}"
            )
        if self.size % ATTENTION_HEADS:
            raise UserError(f"size must be a multiple of {ATTENTION_HEADS}, not {self.size}")
        object.__setattr__(self, "operations", check_operations(self.operations))

    def summary(self) -> str:
        """The sizes, for a person to read."""
        return f"{LAYERS[self.layer]}, size {self.size}"


class LayerReader(Model):
    """Steps, a layer, a network of two layers, and the scores of all words."""

    config: LayerReaderConfig

    def __init__(
        self, config: LayerReaderConfig, *, generator: torch.Generator | None = None
    ) -> None:
        """Make a model with fresh parameters; `generator` is where their randomness comes from."""
        super().__init__(config, generator=generator)
        size = config.size
        self.words = nn.Embedding(config.max_words * config.vocabulary_size, size)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(3))
        self.layer = _LAYERS[config.layer](config)
        rest = config.layer_parameters - sum(each.numel() for each in self.layer.parameters())
        width = max(rest // (2 * size + 1), size)
        self.network = nn.Sequential(nn.Linear(size, width), nn.GELU(), nn.Linear(width, size))
        self.output = nn.Linear(size, config.vocabulary_size)

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        vectors = torch.cat([self._vectors(batch.sentences), self._vectors(batch.questions)])
        logits = [self._read(vectors, group, len(batch.sentences)) for group in batch.groups]
        return torch.cat(logits)

    def _vectors(self, texts: Int[Tensor, "u w"]) -> Float[Tensor, "u v"]:
        """The sum of the vectors of a text's words, another one at each place."""
        place = torch.arange(texts.shape[1], device=texts.device) * self.config.vocabulary_size
        vectors: Tensor = self.words(texts + place)
        return (vectors * (texts > 0).unsqueeze(2)).sum(dim=1)

    def _read(
        self, vectors: Float[Tensor, "u v"], group: StoryGroup, sentences: int
    ) -> Float[Tensor, "q s"]:
        if not torch.equal(group.position, group.lengths[group.about]):
            group = group.for_each_question()  # one is asked before the end of its story
        rows, told, at = _steps(group, sentences)
        x = vectors[rows]
        x = x + self.layer(self.norms[0](x), told)
        found = x[group.about, at]
        found = found + self.network(self.norms[1](found))
        logits: Tensor = self.output(self.norms[2](found))
        return logits


def _steps(
    group: StoryGroup, sentences: int
) -> tuple[Int[Tensor, "b _"], Bool[Tensor, "b _"], Int[Tensor, " q"]]:
    """The steps of each story as rows of texts, which of them tell, and where each question is.

    Questions stand behind the sentences of their story; texts are counted on from the sentences.
    """
    stories, time = group.story.shape
    own = group.about.unsqueeze(1) == torch.arange(stories, device=group.about.device)
    rank = own.int().cumsum(dim=0).gather(1, group.about.unsqueeze(1)).squeeze(1) - 1
    at = group.lengths[group.about] + rank
    most = int(own.sum(dim=0).max()) if len(group.about) else 0
    rows = torch.cat((group.story, group.story.new_zeros(stories, most)), dim=1)
    rows[group.about, at] = group.question + sentences
    told = torch.arange(time + most, device=rows.device) < group.lengths.unsqueeze(1)
    return rows, told, at


class _Memory(nn.Module):
    def __init__(self, config: LayerReaderConfig) -> None:
        super().__init__()
        self.memory = TPRMemory(
            config.size,
            entity_size=ENTITY,
            relation_size=RELATION,
            hops=HOPS,
            operations=config.operations,
        )

    def forward(self, x: Float[Tensor, "b t v"], told: Bool[Tensor, "b t"]) -> Tensor:
        y: Tensor = self.memory(x, write_mask=told)[0]
        return y


class _DeltaRule(nn.Module):
    def __init__(self, config: LayerReaderConfig) -> None:
        super().__init__()
        sizes = {"key_size": DELTA_SIZE, "value_size": DELTA_SIZE}
        self.memory = DeltaRule(config.size, **sizes, heads=1, output_size=config.size)

    def forward(self, x: Float[Tensor, "b t v"], told: Bool[Tensor, "b t"]) -> Tensor:
        y: Tensor = self.memory(x, write_mask=told)[0]
        return y


class _LSTM(nn.Module):
    def __init__(self, config: LayerReaderConfig) -> None:
        super().__init__()
        self.lstm = nn.LSTM(config.size, LSTM_UNITS, batch_first=True)
        self.output = nn.Linear(LSTM_UNITS, config.size)

    def forward(self, x: Float[Tensor, "b t v"], told: Bool[Tensor, "b t"]) -> Tensor:
        y: Tensor = self.output(self.lstm(x)[0])
        return y


class _Attention(nn.Module):
    """Causal softmax attention over the sentences; waves (sine, cosine) tell a step's place."""

    def __init__(self, config: LayerReaderConfig) -> None:
        super().__init__()
        self.parts = nn.Linear(config.size, 3 * config.size)
        self.output = nn.Linear(config.size, config.size)

    def forward(self, x: Float[Tensor, "b t v"], told: Bool[Tensor, "b t"]) -> Tensor:
        time, size = x.shape[1:]
        step = torch.arange(time, device=x.device)
        place = torch.minimum(step, told.sum(dim=1, keepdim=True))  # all questions: at the end
        lengths = 10_000 ** (torch.arange(0, size, 2, device=x.device) / size)
        waves = place.unsqueeze(2) / lengths
        x = x + torch.cat((waves.sin(), waves.cos()), dim=2)
        q, k, v = (
            part.unflatten(2, (ATTENTION_HEADS, -1)).transpose(1, 2)
            for part in self.parts(x).chunk(3, dim=2)
        )
        seen = (step <= step.unsqueeze(1)) & (told.unsqueeze(1) | (step == step.unsqueeze(1)))
        y = scaled_dot_product_attention(q, k, v, attn_mask=seen.unsqueeze(1))
        output: Tensor = self.output(y.transpose(1, 2).flatten(2))
        return output


_LAYERS = {
    "tpr-memory": _Memory,
    "delta-rule": _DeltaRule,
    "lstm": _LSTM,
    "attention": _Attention,
}
