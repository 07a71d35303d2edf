"""Bounded keys: with them the memory stays bounded, however long the story is.

What a sentence leaves of the memory is a linear map of it. Where that has an eigenvalue of a size
over 1, a sentence that is repeated doubles the memory again and again. Entities of length 1 and
relations of at most 1 exclude it for write and backlink. With move and swap, r1 and r2 must also be
close enough to each other: how close was found by search, and tests hold it.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.memory.associations import Parts
from tpr_rnn.memory.operations import Operation

TINY = 1e-6


def bounded(said: Parts, operations: tuple[Operation, ...]) -> Parts:
    """The same with entities of length 1 and relations of at most 1, close enough to each other."""
    relations = torch.stack((said.r1, said.r2, said.r3), dim=-2)
    r1, r2, r3 = bounded_relations(relations, operations).unbind(-2)
    return drawn_together(Parts(unit(said.e1), unit(said.e2), r1, r2, r3), operations)


def unit(entity: Float[Tensor, "*rows e"]) -> Float[Tensor, "*rows e"]:
    """Of length 1."""
    # Times one over the length: the gradient of a quotient takes twice as long.
    return entity * _length(entity).clamp(min=TINY).reciprocal()


def at_most_unit(relation: Float[Tensor, "*rows r"]) -> Float[Tensor, "*rows r"]:
    """Of length 1 or less: the length says how strongly a sentence writes."""
    return relation * _length(relation).clamp(min=1.0).reciprocal()


def bounded_relations(
    relations: Float[Tensor, "*rows k r"], operations: tuple[Operation, ...]
) -> Float[Tensor, "*rows k r"]:
    """Of at most length 1 each: r1, r2, r3 and any others.

    But where swap alone reads r2, only its distance from r1 counts, which `drawn_together` bounds:
    for a full swap it must be the square root of 2, and with r1 = 0 that is the length of r2.
    """
    bounded = at_most_unit(relations)
    if "swap" in operations and "move" not in operations:
        r1, _, *others = bounded.unbind(-2)
        return torch.stack((r1, relations[..., 1, :], *others), dim=-2)
    return bounded


def drawn_together(said: Parts, operations: tuple[Operation, ...]) -> Parts:
    """With r2 moved towards r1 until no sentence can make the memory grow.

    Their distance is at most that of orthogonal relations of length 1, which an exact move has, and
    less where the backlink of the sentence has nearly the same key. With swap it depends on the
    length of r1: a full swap is one that writes nothing, r1 = 0.
    """
    if not {"move", "swap"} & set(operations):
        return said  # nobody reads r2
    difference = said.r1 - said.r2
    room: Tensor | float = 2.0  # for the square of the distance
    if "swap" in operations and "move" in operations:
        room = 1.0
    elif "swap" in operations and "write" in operations:
        room = room - _squared(said.r1)
    if "backlink" in operations:
        alike = (said.e1 * said.e2).sum(dim=-1, keepdim=True).abs()
        room = room - alike * _squared(said.r3)
    room = torch.as_tensor(room, dtype=difference.dtype, device=difference.device).clamp(min=TINY)
    share = (room / torch.maximum(_squared(difference), room)).sqrt()
    return said._replace(r2=said.r1 - share * difference)


def _length(vector: Float[Tensor, "*rows r"]) -> Float[Tensor, "*rows 1"]:
    length: Tensor = torch.linalg.vector_norm(vector, dim=-1, keepdim=True)
    return length


def _squared(vector: Float[Tensor, "*rows r"]) -> Float[Tensor, "*rows 1"]:
    return vector.square().sum(dim=-1, keepdim=True)
