"""The networks that take a sentence apart into entities and relations (eq. 7, 8, 15, 16)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize

from tpr_rnn.data.batches import Rows
from tpr_rnn.models import parts


@dataclass(frozen=True, kw_only=True)
class NetworkShape:
    """What the networks of a model have in common."""

    symbol_size: int
    hidden_size: int
    entity_size: int
    relation_size: int
    bounded: bool
    linear: bool
    shared_hidden: bool
    sentence_dropout: float
    hidden_dropout: float


class EntityRelationNetworks(nn.Module):
    """A two-layer network for each entity and each relation, all run side by side.

    The first layers of all networks are one matrix product; the second layers are one for the
    entities and one for the relations. Axis m counts the networks; a first layer that they share
    is there once, and may be that of other networks.
    """

    def __init__(
        self,
        entities: tuple[str, ...],
        relations: tuple[str, ...],
        shape: NetworkShape,
        generator: torch.Generator | None,
        first: "EntityRelationNetworks | None" = None,
    ) -> None:
        super().__init__()
        # Not as a module of this one, for its parameters would then be saved twice.
        self._first = (first,)
        self.entities = entities
        self.relations = relations
        self.shape = shape
        self.sentence_dropout = nn.Dropout(shape.sentence_dropout)
        self.hidden_dropout = nn.Dropout(shape.hidden_dropout)
        if first is None:
            layers = 1 if shape.shared_hidden else len(entities) + len(relations)
            self.hidden_weight = _glorot(layers, shape.symbol_size, shape.hidden_size, generator)
            self.hidden_bias = nn.Parameter(torch.zeros(layers, 1, shape.hidden_size))
        self.entity_weight = _glorot(len(entities), shape.hidden_size, shape.entity_size, generator)
        self.entity_bias = nn.Parameter(torch.zeros(len(entities), 1, shape.entity_size))
        self.relation_weight = _glorot(
            len(relations), shape.hidden_size, shape.relation_size, generator
        )
        self.relation_bias = nn.Parameter(torch.zeros(len(relations), 1, shape.relation_size))

    def forward(
        self, sentences: Float[Tensor, "u v"], rows: Rows | None = None
    ) -> Float[Tensor, "u d"]:
        """The entities and relations of each sentence, side by side.

        Of a part of a batch, `rows` says which rows of the whole these are: dropout draws for the
        whole, so that it does not depend on the parts.
        """
        if rows is None:
            sentences = self.sentence_dropout(sentences)
        else:
            whole = sentences.new_ones(rows.of, sentences.shape[1])
            sentences = sentences * self.sentence_dropout(whole)[rows.mine]
        first = self._first[0] or self
        weights = (
            *(first.hidden_weight, first.hidden_bias),
            *(self.entity_weight, self.entity_bias),
            *(self.relation_weight, self.relation_bias),
        )
        settings = (
            self._kept(sentences, first.hidden_weight, rows),
            self.shape.linear,
            self.shape.bounded,
        )
        if parts.usable(sentences, *weights):
            return parts.take_apart(take_apart, (sentences, *weights), settings)
        return take_apart(sentences, *weights, *settings)

    def _kept(self, sentences: Tensor, hidden_weight: Tensor, rows: Rows | None) -> Tensor | None:
        """What the hidden layers are multiplied with, for dropout: 0 or what makes up for zeros."""
        if not (self.hidden_dropout.training and self.hidden_dropout.p):
            return None
        layers, _, size = hidden_weight.shape
        all_rows = len(sentences) if rows is None else rows.of
        kept: Tensor = self.hidden_dropout(sentences.new_ones(layers, all_rows, size))
        return kept if rows is None else kept[:, rows.mine]

    def by_name(self, vectors: Float[Tensor, "*rows d"]) -> dict[str, Float[Tensor, "*rows _"]]:
        """Take entities and relations apart, by their paper names."""
        sizes = [self.shape.entity_size] * len(self.entities)
        sizes += [self.shape.relation_size] * len(self.relations)
        parts = vectors.split(sizes, dim=-1)
        return dict(zip(self.entities + self.relations, parts, strict=True))


def take_apart(
    sentences: Float[Tensor, "u v"],
    hidden_weight: Float[Tensor, "l v h"],
    hidden_bias: Float[Tensor, "l 1 h"],
    entity_weight: Float[Tensor, "i h e"],
    entity_bias: Float[Tensor, "i 1 e"],
    relation_weight: Float[Tensor, "j h r"],
    relation_bias: Float[Tensor, "j 1 r"],
    kept: Float[Tensor, "l u h"] | None,
    linear: bool,
    bounded: bool,
) -> Float[Tensor, "u d"]:
    """The entities and relations of each sentence, side by side, in PyTorch (eq. 7, 8, 15, 16).

    Args:
        sentences: as vectors.
        hidden_weight: of the first layers: one (l) for each network (m), or one for all.
        hidden_bias: as `hidden_weight`.
        entity_weight: of the second layers, one for each entity (i).
        entity_bias: as `entity_weight`.
        relation_weight: of the second layers, one for each relation (j).
        relation_bias: as `relation_weight`.
        kept: dropout of the hidden layers: 0 or what makes up for the zeros; None: no dropout.
        linear: without a tanh at the end.
        bounded: scale keys to at most length 1.
    """
    hidden = torch.tanh(sentences @ hidden_weight + hidden_bias)  # l u h
    if kept is not None:
        hidden = hidden * kept
    split = len(entity_weight)
    hidden = hidden.expand(split + len(relation_weight), -1, -1)  # m u h
    entity = torch.baddbmm(entity_bias, hidden[:split], entity_weight)  # i u e
    relation = torch.baddbmm(relation_bias, hidden[split:], relation_weight)  # j u r
    if not linear:
        entity, relation = torch.tanh(entity), torch.tanh(relation)
    if bounded:
        entity, relation = bounded_entities(entity), bounded_relations(relation)
    return torch.cat((*entity, *relation), dim=1)


def bounded_entities(vectors: Float[Tensor, "*n e"]) -> Float[Tensor, "*n e"]:
    """Entities of length 1."""
    return normalize(vectors, dim=-1)


def bounded_relations(vectors: Float[Tensor, "*n r"]) -> Float[Tensor, "*n r"]:
    """Relations of at most length 1, which says how strongly a sentence or word writes."""
    length: Tensor = vectors.norm(dim=-1, keepdim=True)
    return vectors / length.clamp(min=1.0)


class ScalarLayerNorms(nn.Module):
    """The layer norms of the inference steps: one scale and one shift each, for a whole vector."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(steps))
        self.shift = nn.Parameter(torch.zeros(steps))


def _glorot(
    networks: int, fan_in: int, fan_out: int, generator: torch.Generator | None
) -> nn.Parameter:
    """Glorot's uniform initialisation, for each network by itself."""
    bound = (6 / (fan_in + fan_out)) ** 0.5
    weight = torch.empty(networks, fan_in, fan_out)
    return nn.Parameter(weight.uniform_(-bound, bound, generator=generator))
