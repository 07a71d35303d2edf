"""The networks that take a sentence apart into entities and relations (eq. 7, 8, 15, 16)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize


class EntityRelationNetworks(nn.Module):
    """A two-layer tanh network for each entity and each relation, all run side by side.

    The first layers of all networks are one matrix product; the second layers are one for the
    entities and one for the relations. Axis m counts the networks.
    """

    def __init__(
        self,
        *,
        entities: tuple[str, ...],
        relations: tuple[str, ...],
        symbol_size: int,
        hidden_size: int,
        entity_size: int,
        relation_size: int,
        unit_length: bool,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.entities = entities
        self.relations = relations
        self.unit_length = unit_length
        networks = len(entities) + len(relations)
        self.hidden_weight = _glorot(networks, symbol_size, hidden_size, generator)
        self.hidden_bias = nn.Parameter(torch.zeros(networks, 1, hidden_size))
        self.entity_weight = _glorot(len(entities), hidden_size, entity_size, generator)
        self.entity_bias = nn.Parameter(torch.zeros(len(entities), 1, entity_size))
        self.relation_weight = _glorot(len(relations), hidden_size, relation_size, generator)
        self.relation_bias = nn.Parameter(torch.zeros(len(relations), 1, relation_size))

    def forward(self, sentences: Float[Tensor, "u v"]) -> dict[str, Float[Tensor, "u _"]]:
        """The entities and relations of each sentence, by their paper names."""
        hidden = torch.tanh(sentences @ self.hidden_weight + self.hidden_bias)  # m u h
        split = len(self.entities)
        entity = torch.tanh(hidden[:split] @ self.entity_weight + self.entity_bias)  # m u e
        relation = torch.tanh(hidden[split:] @ self.relation_weight + self.relation_bias)  # m u r
        if self.unit_length:
            entity, relation = normalize(entity, dim=2), normalize(relation, dim=2)
        return dict(zip(self.entities + self.relations, (*entity, *relation), strict=True))


def _glorot(
    networks: int, fan_in: int, fan_out: int, generator: torch.Generator | None
) -> nn.Parameter:
    """Glorot's uniform initialisation, for each network by itself."""
    bound = (6 / (fan_in + fan_out)) ** 0.5
    weight = torch.empty(networks, fan_in, fan_out)
    return nn.Parameter(weight.uniform_(-bound, bound, generator=generator))
