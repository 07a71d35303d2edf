"""Queries: walks through the memory, each at a position of a story (eq. 17-19)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding

from tpr_rnn.memory.associations import Associations

EPSILON = 1e-7
"""What keeps the layer norm from dividing by nothing."""


class Queries(NamedTuple):
    """Walks from an entity along one relation a hop, each after some sentence of a story.

    A hop reads the memory as it was after that sentence; what it finds is the entity of the next
    hop. There may be any number of queries at any position, in any order.
    """

    table: Float[Tensor, "a d"]
    """A walk a row, its entity and its relations n, l1, l2, ... side by side: d = e + s r."""
    row: Int[Tensor, " q"]
    """The row of the table, for each query: equal walks need to be there only once."""
    position: Int[Tensor, " q"]
    """How many sentences of its story a query has seen; 0: none, it reads the memory before them.
    Behind the end of a story it sees what there is at the end."""
    story: Int[Tensor, " q"] | None = None
    """The story of each query; None: each has as many as any other, story after story."""
    scale: Float[Tensor, " s"] | None = None
    """Of a layer norm after each hop, with one scale and one shift for its vector; None: none."""
    shift: Float[Tensor, " s"] | None = None

    @staticmethod
    def of(
        entity: Float[Tensor, "q e"],
        relations: Float[Tensor, "q s r"],
        *,
        position: Int[Tensor, " q"],
        story: Int[Tensor, " q"] | None = None,
        scale: Float[Tensor, " s"] | None = None,
        shift: Float[Tensor, " s"] | None = None,
    ) -> "Queries":
        """Queries that are all different."""
        table = torch.cat((entity, relations.flatten(1)), dim=1)
        row = torch.arange(entity.shape[0], device=entity.device)
        return Queries(table, row, position, story, scale, shift)

    @staticmethod
    def everywhere(
        entity: Float[Tensor, "b t e"],
        relations: Float[Tensor, "b t s r"],
        *,
        scale: Float[Tensor, " s"] | None = None,
        shift: Float[Tensor, " s"] | None = None,
    ) -> "Queries":
        """One query after each sentence of each story."""
        batch, time, _ = entity.shape
        position = torch.arange(1, time + 1, device=entity.device).repeat(batch)
        return Queries.of(
            entity.flatten(0, 1),
            relations.flatten(0, 1),
            position=position,
            scale=scale,
            shift=shift,
        )

    def hops(self, associations: Associations) -> int:
        """How many hops a query takes through such stories."""
        return (self.table.shape[1] - associations.entity_size) // associations.relation_size

    def stories(self, batch: int) -> Int[Tensor, " q"]:
        """The story of each query."""
        if self.story is not None:
            return self.story
        each = self.row.shape[0] // max(batch, 1)
        return torch.arange(batch, device=self.row.device).repeat_interleave(each)

    def chosen(self, which: Int[Tensor, " c"]) -> "Queries":
        """Some of the queries, whose stories are named."""
        assert self.story is not None
        return self._replace(
            row=self.row[which], position=self.position[which], story=self.story[which]
        )


def walk(
    queries: Queries,
    associations: Associations,
    find: Callable[[Tensor, Tensor], Tensor],
) -> Float[Tensor, "q s f"]:
    """What each hop of each query finds.

    Args:
        queries: where each walk starts, and along which relations it goes.
        associations: what the stories say; only their sizes count.
        find: what the memory holds for an entity (q e) and a relation (q r) of each query.
    """
    hops = queries.hops(associations)
    if queries.row.shape[0] == 0:  # second derivatives of some of PyTorch's functions fail here
        return queries.table.new_empty(0, hops, associations.entity_size)
    sizes = [associations.entity_size] + [associations.relation_size] * hops
    entity, *relations = embedding(queries.row, queries.table).split(sizes, dim=1)
    found = []
    for hop, relation in enumerate(relations):
        entity = find(entity, relation)
        if queries.scale is not None and queries.shift is not None:
            entity = scalar_layer_norm(entity, queries.scale[hop], queries.shift[hop])
        found.append(entity)
    return torch.stack(found, dim=1)


def scalar_layer_norm(
    x: Float[Tensor, "*q f"], scale: Float[Tensor, ""], shift: Float[Tensor, ""]
) -> Float[Tensor, "*q f"]:
    """Layer normalisation with one scale and one shift for the whole vector (LN in eq. 17-19)."""
    return torch.layer_norm(x, x.shape[-1:], eps=EPSILON) * scale + shift
