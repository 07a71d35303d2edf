"""The word-level TPR-RNN: an LSTM reads words, and each word updates the memory.

The TPR-RNN is told what a sentence is. This model reads a story once, as one sequence of words
with all its questions at their places, and only the full stop says where a sentence ends. After
each word the LSTM's state is taken apart into entities and relations, which update the memory
(eq. 7-14); after the last word of a question it is taken apart into those with which the memory is
read (eq. 15-19). What is read never goes back into the LSTM, so that the memory of all words is
one solve (`memory.parallel`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding

from tpr_rnn.data.batches import Batch
from tpr_rnn.data.word_stream import WordStream, word_stream
from tpr_rnn.errors import UserError
from tpr_rnn.memory import (
    ENTITIES,
    OPERATIONS,
    RELATIONS,
    Associations,
    Memory,
    Queries,
    check_operations,
    parallel,
)
from tpr_rnn.models.model import Model, ModelConfig
from tpr_rnn.models.networks import ScalarLayerNorms, bounded_entities, bounded_relations


@dataclass(frozen=True, kw_only=True)
class WordLevelConfig(ModelConfig):
    """Sizes and settings of a word-level TPR-RNN."""

    symbol_size: int = 128
    """Dimension of word vectors."""
    hidden_size: int = 128
    """Units of the LSTM."""
    entity_size: int = 32
    """Dimension of V_Entity."""
    relation_size: int = 16
    """Dimension of V_Relation."""
    inference_steps: int = 3
    """Reads that an answer may take (eq. 17-19)."""
    operations: tuple[str, ...] = OPERATIONS
    """Memory operations in use: write, move, backlink (eq. 6)."""
    embedding_scale: float = 1.0
    """Word vectors start uniformly in +- this."""
    word_dropout: float = 0.0
    """Share of each word vector that is left out in training."""
    hidden_dropout: float = 0.0
    """Share of the LSTM's states that is left out in training, where the memory's vectors are made
    of them."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        sizes = ("symbol_size", "hidden_size", "entity_size", "relation_size", "inference_steps")
        self.check_sizes("vocabulary_size", "max_words", *sizes)
        self.check_shares("word_dropout", "hidden_dropout")
        if not 0 < self.embedding_scale < math.inf:
            raise UserError(f"embedding_scale must be over 0, not {self.embedding_scale}")
        object.__setattr__(self, "operations", check_operations(self.operations))

    def summary(self) -> str:
        """The sizes, for a person to read."""
        sizes = f"entity {self.entity_size}, relation {self.relation_size}"
        sizes += f", hidden {self.hidden_size}, symbol {self.symbol_size}"
        return f"{sizes}; {', '.join(self.operations)}"


class WordsRead(NamedTuple):
    """What the words of stories have done to the memory, and what questions have found in it."""

    said: Float[Tensor, "b w d"]
    """e1, e2, r1, r2, r3 of each word, side by side (eq. 7, 8)."""
    asked: Float[Tensor, "q c"]
    """n, l1, l2, l3 of each question, side by side (eq. 15, 16)."""
    changes: Float[Tensor, "b w o f"]
    """Made by each operation of each word."""
    memory: Memory
    """After the last word."""
    found: Float[Tensor, "q s f"]
    """i1, i2, i3 of each question (eq. 17-19)."""


class WordLevel(Model):
    """Reads stories word by word into a third-order tensor-product memory, and answers from it."""

    config: WordLevelConfig
    unit: Literal["word"] = "word"
    """What updates the memory once."""

    def __init__(
        self,
        config: WordLevelConfig,
        *,
        generator: torch.Generator | None = None,
        memory_form: Callable[..., Any] = parallel,
    ) -> None:
        """Make a model with fresh parameters.

        Args:
            config: sizes and settings.
            generator: source of the random initialisation; torch's global one if None.
            memory_form: `parallel` or `sequential`, the oracle; they give the same results.
        """
        super().__init__(config, generator=generator)
        self.operations = check_operations(config.operations)
        self.memory_form = memory_form
        hidden, entity, relation = config.hidden_size, config.entity_size, config.relation_size
        self.embedding = nn.Parameter(torch.empty(config.vocabulary_size, config.symbol_size))
        self.word_dropout = nn.Dropout(config.word_dropout)
        self.lstm = nn.LSTM(config.symbol_size, hidden, batch_first=True)
        self.hidden_dropout = nn.Dropout(config.hidden_dropout)
        said = len(ENTITIES) * entity + len(RELATIONS) * relation
        self.update = nn.Linear(hidden, said)
        self.inference = nn.Linear(hidden, entity + config.inference_steps * relation)
        self.norm = ScalarLayerNorms(config.inference_steps)
        self.output = nn.Parameter(torch.empty(entity, config.vocabulary_size))  # Z'
        self._initialise(generator)

    def _initialise(self, generator: torch.Generator | None) -> None:
        """Draw all weights from the generator: torch's own start would ignore it."""
        scale, hidden = self.config.embedding_scale, self.config.hidden_size
        with torch.no_grad():
            self.embedding.uniform_(-scale, scale, generator=generator)
            for weight in self.lstm.parameters():
                weight.uniform_(-(hidden**-0.5), hidden**-0.5, generator=generator)
            # A forget gate that starts open keeps the beginning of a sentence alive.
            self.lstm.get_parameter("bias_hh_l0")[hidden : 2 * hidden] = 1.0
            for layer in (self.update, self.inference):
                nn.init.xavier_uniform_(layer.weight, generator=generator)
                layer.bias.zero_()
            nn.init.xavier_uniform_(self.output, generator=generator)

    @property
    def word_vectors(self) -> nn.Parameter:
        """A vector for each word."""
        return self.embedding

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        found = [self.read(word_stream(batch, group)).found for group in batch.groups]
        return self.logits(torch.cat(found))

    def read(self, stream: WordStream) -> WordsRead:
        """Read stories once, and walk the memory for each question after its last word."""
        states = self._states(stream)
        said, asked = self.said(states), self.asked(states[stream.about, stream.at])
        stories, words, _ = said.shape
        rows = torch.arange(stories * words, device=said.device)
        return WordsRead(
            said,
            asked,
            *self.memory_form(
                Associations(
                    said.flatten(0, 1), rows.view(stories, words), self.config.entity_size
                ),
                operations=self.operations,
                lengths=stream.lengths,
                queries=Queries(
                    asked,
                    torch.arange(len(asked), device=asked.device),
                    stream.at + 1,  # the last word of a question has been read too
                    stream.about,
                    self.norm.scale,
                    self.norm.shift,
                ),
            ),
        )

    def _states(self, stream: WordStream) -> Float[Tensor, "b w h"]:
        """The LSTM's state after each word."""
        vectors = self.word_dropout(embedding(stream.words, self.embedding))
        states: Tensor = self.hidden_dropout(self.lstm(vectors)[0])
        return states

    def said(self, states: Float[Tensor, "*n h"]) -> Float[Tensor, "*n d"]:
        """What each word tells the memory: e1, e2, r1, r2, r3, side by side (eq. 7, 8)."""
        return self._bounded(self.update(states), len(ENTITIES))

    def asked(self, states: Float[Tensor, "q h"]) -> Float[Tensor, "q c"]:
        """With what each question reads it: n, l1, l2, l3, side by side (eq. 15, 16)."""
        return self._bounded(self.inference(states), 1)

    def _bounded(self, vectors: Float[Tensor, "*n d"], entities: int) -> Float[Tensor, "*n d"]:
        """So many entities and, behind them, relations as bounded keys."""
        size, relation = self.config.entity_size, self.config.relation_size
        entity, rest = vectors.split((entities * size, vectors.shape[-1] - entities * size), dim=-1)
        return torch.cat(
            (
                bounded_entities(entity.unflatten(-1, (-1, size))).flatten(-2),
                bounded_relations(rest.unflatten(-1, (-1, relation))).flatten(-2),
            ),
            dim=-1,
        )

    def sentence_parts(self, sentences: Int[Tensor, "u w"]) -> dict[str, Float[Tensor, "u _"]]:
        """What sentences, each read by itself, tell the memory with their last words, by name."""
        return self.said_by_name(self.said(self._last_states(sentences)))

    def question_parts(self, questions: Int[Tensor, "a w"]) -> dict[str, Float[Tensor, "a _"]]:
        """With what questions, each read by itself, read the memory, by the paper's names."""
        return self.asked_by_name(self.asked(self._last_states(questions)))

    def _last_states(self, texts: Int[Tensor, "u w"]) -> Float[Tensor, "u h"]:
        """The LSTM's state after the last word of each text; 0 is padding."""
        states: Tensor = self.lstm(embedding(texts, self.embedding))[0]
        return states[torch.arange(len(texts), device=texts.device), (texts > 0).sum(dim=1) - 1]

    def said_by_name(self, said: Float[Tensor, "*n d"]) -> dict[str, Float[Tensor, "*n _"]]:
        """Take what words tell apart, by the paper's names."""
        return self._by_name(said, ENTITIES, RELATIONS)

    def asked_by_name(self, asked: Float[Tensor, "*n c"]) -> dict[str, Float[Tensor, "*n _"]]:
        """Take what questions read with apart, by the paper's names."""
        relations = tuple(f"l{step}" for step in range(1, self.config.inference_steps + 1))
        return self._by_name(asked, ("n",), relations)

    def _by_name(
        self, vectors: Float[Tensor, "*n d"], entities: tuple[str, ...], relations: tuple[str, ...]
    ) -> dict[str, Float[Tensor, "*n _"]]:
        sizes = [self.config.entity_size] * len(entities)
        sizes += [self.config.relation_size] * len(relations)
        parts = vectors.split(sizes, dim=-1)
        return dict(zip(entities + relations, parts, strict=True))

    def logits(self, found: Float[Tensor, "q s f"]) -> Float[Tensor, "q v"]:
        """The scores of every word, from what the inference steps have found (eq. 20)."""
        return found.sum(dim=1) @ self.output
