"""Random stories, states and queries in float64, for every test of the memory."""

import torch
from torch import Tensor

from tpr_rnn.memory import OPERATIONS, Associations, DenseMemory, FactoredMemory, Memory, Queries

SUBSETS = [
    ("write",),
    ("backlink",),
    ("write", "move"),
    ("write", "backlink"),
    ("write", "move", "backlink"),
    ("swap",),
    ("write", "swap"),
    ("write", "move", "backlink", "swap"),
]
# Rounding in float64 with keys of length about 1; a wrong term is off by 0.01 or more.
TOLERANCE = {"rtol": 1e-10, "atol": 1e-12}


def random_associations(
    batch: int, time: int, entity: int, relation: int, seed: int
) -> Associations:
    generator = torch.Generator().manual_seed(seed)

    def vectors(size: int) -> Tensor:
        x = torch.randn(batch, time, size, generator=generator, dtype=torch.float64)
        return x / size**0.5

    sizes = {"e1": entity, "e2": entity, "r1": relation, "r2": relation, "r3": relation}
    said = Associations.of(**{name: vectors(size) for name, size in sizes.items()})
    return said._replace(table=said.table.detach().requires_grad_())


def random_state(
    kind: str, batch: int, entity: int, relation: int, seed: int, operations=OPERATIONS
) -> Memory | None:
    generator = torch.Generator().manual_seed(seed)

    def tensor(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    if kind == "none":
        return None
    if kind == "dense":
        return DenseMemory(tensor(batch, entity, relation, entity))
    return FactoredMemory(
        random_associations(batch, 4, entity, relation, seed),
        tensor(batch, 4, len(operations), entity),
        operations,
    )


def random_queries(
    associations: Associations, count: int, seed: int, *, hops: int = 3, norm: bool = True
) -> Queries:
    """Queries at random positions of random stories; several share a row of the table."""
    generator = torch.Generator().manual_seed(seed)
    entity, relation = associations.entity_size, associations.relation_size
    batch, time = associations.story.shape

    def tensor(*shape: int) -> Tensor:
        x = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return x.div(shape[-1] ** 0.5).requires_grad_()

    def numbers(most: int) -> Tensor:
        return torch.randint(most, (count,), generator=generator)

    return Queries(
        tensor(max(count // 2, 1), entity + hops * relation),
        numbers(max(count // 2, 1)),
        position=numbers(time + 1),
        story=numbers(batch),
        scale=tensor(hops) if norm else None,
        shift=tensor(hops) if norm else None,
    )
