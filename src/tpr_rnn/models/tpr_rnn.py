"""The TPR-RNN: input module (eq. 5), update module (eq. 7-14), inference module (eq. 15-20)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding

from tpr_rnn.data.batches import Batch, Rows, StoryGroup
from tpr_rnn.errors import UserError
from tpr_rnn.memory import (
    ENTITIES,
    OPERATIONS,
    RELATIONS,
    Associations,
    Memory,
    Queries,
    check_operations,
    densify,
    find,
    native,
    parallel,
    retrieved,
)
from tpr_rnn.models.encoder import SentenceEncoder
from tpr_rnn.models.model import Model, ModelConfig
from tpr_rnn.models.networks import EntityRelationNetworks, NetworkShape, ScalarLayerNorms


@dataclass(frozen=True, kw_only=True)
class TPRRNNConfig(ModelConfig):
    """Sizes and settings of a TPR-RNN; the defaults are the paper's single-task model."""

    symbol_size: int | None = None
    """Dimension of V_Symbol, the space of word and sentence vectors; None: one for each word of the
    vocabulary, as in the paper."""
    hidden_size: int | None = None
    """Dimension of V_Hidden; None: that of V_Symbol, as in the paper's single-task model."""
    entity_size: int = 15
    """Dimension of V_Entity."""
    relation_size: int = 10
    """Dimension of V_Relation."""
    inference_steps: int = 3
    """Reads that an answer may take (eq. 17-19)."""
    layer_norm: bool = True
    """Normalise what each inference step retrieves (LN in eq. 17-19)."""
    operations: tuple[str, ...] = OPERATIONS
    """Memory operations in use: write, move, backlink (eq. 6); there is swap too."""
    bounded_keys: bool = False
    """Scale entities to length 1 and shorten relations that are longer: with keys of at most
    length 1 the memory stays bounded, and a relation's length says how strongly a sentence writes.
    Not in the paper."""
    linear_keys: bool = False
    """Where keys are bounded, leave out the tanh at the end of the networks that make them: they
    need none, and once it is saturated it lets no gradient through. Not in the paper."""
    shared_hidden: bool = False
    """One hidden layer for all the networks that take sentences and questions apart, instead of
    one for each: what is learned of a word for one entity or relation is there for all. Not in the
    paper."""
    embedding_scale: float = 0.01
    """Word vectors start uniformly in +- this (appendix A)."""
    sentence_dropout: float = 0.0
    """Share of a sentence vector (V_Symbol) that is left out in training. Not in the paper."""
    hidden_dropout: float = 0.0
    """Share of the hidden layers (V_Hidden) that is left out in training. Not in the paper."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense; settle what follows from the rest."""
        sizes = ["vocabulary_size", "max_words", "entity_size", "relation_size", "inference_steps"]
        sizes += [
            name for name in ("symbol_size", "hidden_size") if getattr(self, name) is not None
        ]
        self.check_sizes(*sizes)
        self.check_shares("sentence_dropout", "hidden_dropout")
        if not 0 < self.embedding_scale < math.inf:
            raise UserError(f"embedding_scale must be over 0, not {self.embedding_scale}")
        object.__setattr__(self, "operations", check_operations(self.operations))

    def summary(self) -> str:
        """The sizes, for a person to read."""
        hidden = self.hidden_size or self.symbol_size or self.vocabulary_size
        sizes = f"entity {self.entity_size}, relation {self.relation_size}, hidden {hidden}"
        symbol = "" if self.symbol_size is None else f", symbol {self.symbol_size}"
        return f"{sizes}{symbol}; {', '.join(self.operations)}"


class TextParts(NamedTuple):
    """Sentences and questions, encoded and taken apart."""

    s: Float[Tensor, "u v"]
    """The sentences (eq. 5)."""
    s_q: Float[Tensor, "a v"]
    """The questions."""
    said: Float[Tensor, "u d"]
    """e1, e2, r1, r2, r3 of each sentence, side by side (eq. 7, 8)."""
    asked: Float[Tensor, "a c"]
    """n, l1, l2, l3 of each question, side by side (eq. 15, 16)."""


class StoriesRead(NamedTuple):
    """What stories have done to the memory, and what questions have found in it."""

    changes: Float[Tensor, "b t o f"]
    """Made by each operation of each sentence."""
    memory: Memory
    """After the last sentence."""
    found: Float[Tensor, "q s f"]
    """i1, i2, i3 of each question (eq. 17-19)."""


class TPRRNN(Model):
    """Reads stories into a third-order tensor-product memory and answers questions about them."""

    config: TPRRNNConfig
    unit: Literal["sentence"] = "sentence"
    """What updates the memory once."""

    def __init__(
        self,
        config: TPRRNNConfig,
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
        symbol_size = config.symbol_size or config.vocabulary_size
        shape = NetworkShape(
            symbol_size=symbol_size,
            hidden_size=config.hidden_size or symbol_size,
            entity_size=config.entity_size,
            relation_size=config.relation_size,
            bounded=config.bounded_keys,
            linear=config.bounded_keys and config.linear_keys,
            shared_hidden=config.shared_hidden,
            sentence_dropout=config.sentence_dropout,
            hidden_dropout=config.hidden_dropout,
        )
        self.encoder = SentenceEncoder(
            config.vocabulary_size,
            config.max_words,
            config.embedding_scale,
            generator,
            config.symbol_size,
        )
        self.update = EntityRelationNetworks(ENTITIES, RELATIONS, shape, generator)
        relations = tuple(f"l{step}" for step in range(1, config.inference_steps + 1))
        first = self.update if config.shared_hidden else None
        self.inference = EntityRelationNetworks(("n",), relations, shape, generator, first)
        self.norm = ScalarLayerNorms(config.inference_steps) if config.layer_norm else None
        bound = (6 / (config.entity_size + config.vocabulary_size)) ** 0.5
        output = torch.empty(config.entity_size, config.vocabulary_size)
        self.output = nn.Parameter(output.uniform_(-bound, bound, generator=generator))  # Z'

    @property
    def word_vectors(self) -> nn.Parameter:
        """A vector for each word (d in eq. 5)."""
        return self.encoder.word_vectors

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        rows = batch.sentence_rows, batch.question_rows
        parts = self.parts(batch.sentences, batch.questions, *rows)
        found = [self._find(parts, group) for group in batch.groups]
        return self.logits(torch.cat(found) if len(found) > 1 else found[0])

    def parts(
        self,
        sentences: Int[Tensor, "u w"],
        questions: Int[Tensor, "a w"],
        sentence_rows: Rows | None = None,
        question_rows: Rows | None = None,
    ) -> TextParts:
        """Encode sentences and questions (eq. 5) and take them apart (eq. 7, 8, 15, 16).

        Of a part of a batch, the last two say which rows of the whole they are.
        """
        texts = torch.cat((sentences, questions))  # one pass, for little overhead
        # Not `len`, which would make a constant of it in a graph that is traced.
        s, s_q = self.encoder(texts).split((sentences.shape[0], questions.shape[0]))
        said, asked = self.update(s, sentence_rows), self.inference(s_q, question_rows)
        return TextParts(s, s_q, said=said, asked=asked)

    def sentence_parts(self, sentences: Int[Tensor, "u w"]) -> dict[str, Float[Tensor, "u _"]]:
        """The parts of sentences by their paper names: e1, e2, r1, r2, r3."""
        return self.update.by_name(self.parts(sentences, sentences[:0]).said)

    def question_parts(self, questions: Int[Tensor, "a w"]) -> dict[str, Float[Tensor, "a _"]]:
        """The parts of questions by their paper names: n, l1, l2, l3."""
        return self.inference.by_name(self.parts(questions[:0], questions).asked)

    def read(self, parts: TextParts, group: StoryGroup) -> StoriesRead:
        """Read the stories of a group once, and walk the memory for each of its questions."""
        said, queries = self._told_and_asked(parts, group)
        return StoriesRead(
            *self.memory_form(
                said, operations=self.operations, lengths=group.lengths, queries=queries
            )
        )

    def _find(self, parts: TextParts, group: StoryGroup) -> Float[Tensor, "q s f"]:
        """What the questions of a group find, which is all that an answer needs."""
        if self.memory_form is not parallel:
            return self.read(parts, group).found
        said, queries = self._told_and_asked(parts, group)
        return find(said, operations=self.operations, lengths=group.lengths, queries=queries)

    def _told_and_asked(self, parts: TextParts, group: StoryGroup) -> tuple[Associations, Queries]:
        scale, shift = (self.norm.scale, self.norm.shift) if self.norm else (None, None)
        return (
            Associations(parts.said, group.story, self.config.entity_size),
            Queries(parts.asked, group.question, group.position, group.about, scale, shift),
        )

    def logits(self, found: Float[Tensor, "q s f"]) -> Float[Tensor, "q v"]:
        """The scores of every word, from what the inference steps have found (eq. 20)."""
        return found.sum(dim=1) @ self.output

    def story_groups(self) -> int:
        """Into how many groups by length a training batch is best split.

        The kernel reads each story at its own length. Plain PyTorch pads, which groups of stories
        of similar length keep small; the gradient is the same.
        """
        return 1 if native.usable(self.output, self.operations) else 3

    def intermediates(self, batch: Batch) -> dict[str, Tensor]:
        """Every intermediate of a batch of one group, by its paper name.

        s, e1, e2, r1, r2, r3 and, by the operations in use, w_hat, m_hat, b_hat have the axes
        (question, sentence, ...): each question has its story for itself. F (q e r f) is the
        memory in which it is asked; s_q, n, l1.., i1.., logits and y_hat (eq. 20) have one row a
        question.
        """
        if len(batch.groups) != 1:
            raise ValueError("intermediates are for batches of one group; see make_batch")
        group = batch.groups[0].for_each_question()
        parts = self.parts(batch.sentences, batch.questions)
        read = self.read(parts, group)
        said = Associations(parts.said, group.story, self.config.entity_size).until(group.lengths)
        logits = self.logits(read.found)
        return {
            "s": parts.s[group.story],
            **said.parts()._asdict(),
            **retrieved(said.parts(), read.changes, self.operations),
            "F": densify(read.memory).tensor,
            "s_q": parts.s_q[group.question],
            **self.inference.by_name(embedding(group.question, parts.asked)),
            **{f"i{step}": found for step, found in enumerate(read.found.unbind(dim=1), start=1)},
            "logits": logits,
            "y_hat": logits.softmax(dim=1),
        }
