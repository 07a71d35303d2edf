"""Where a read comes from, against a step-by-step memory that remembers it, in float64."""

import pytest
import torch

from tpr_rnn.memory import (
    Associations,
    content_weights,
    densify,
    key_rows,
    parallel,
    read,
    row_weights,
)

SUBSETS = [("write",), ("backlink",), ("write", "move"), ("write", "move", "backlink")]


def vectors(*shape: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64) / shape[-1] ** 0.5


def told(time: int) -> Associations:
    sizes = {"e1": 5, "e2": 5, "r1": 3, "r2": 3, "r3": 3}
    return Associations.of(
        **{name: vectors(1, time, size, seed=n) for n, (name, size) in enumerate(sizes.items())}
    )


def labelled_memory(said: Associations, operations: tuple[str, ...]) -> torch.Tensor:
    """Eq. 4 and 9-14 with a label in the place of every entity that is stored: e r k."""
    time = said.story.shape[1]
    labels = iter(torch.eye(time * len(operations), dtype=torch.float64))
    memory = torch.zeros(5, 3, time * len(operations), dtype=torch.float64)
    for t in range(time):
        e1, e2, r1, r2, r3 = (part[0, t] for part in said.parts())
        before = memory
        w_hat = torch.einsum("e,r,erk->k", e1, r1, before)
        for operation in operations:
            label = next(labels)
            if operation == "write":
                key, change = (e1, r1), label - w_hat
            elif operation == "move":
                key, change = (e1, r2), w_hat - torch.einsum("e,r,erk->k", e1, r2, before)
            else:
                key, change = (e2, r3), label - torch.einsum("e,r,erk->k", e2, r3, before)
            memory = memory + torch.einsum("e,r,k->erk", *key, change)
    return memory


@pytest.mark.parametrize("time", [0, 1, 9])
@pytest.mark.parametrize("operations", SUBSETS, ids="+".join)
def test_a_read_is_made_of_what_was_told(operations, time) -> None:
    said = told(time)
    changes, memory = parallel(said, operations=operations, chunk=max(time, 1))
    entity, relation = vectors(1, 4, 5, seed=8), vectors(1, 4, 3, seed=9)
    weights = row_weights(memory, entity, relation)
    found = content_weights(memory, weights)

    labelled = labelled_memory(said, operations)
    expected = torch.einsum("qe,qr,erk->qk", entity[0], relation[0], labelled)
    if "move" in operations:  # a move stores nothing of its own, so nothing carries its label
        expected[:, 1 :: len(operations)] = found[0, :, 1 :: len(operations)]
    torch.testing.assert_close(found[0], expected, rtol=1e-10, atol=1e-12)

    whole = read(densify(memory), entity, relation)
    content = key_rows(said, operations).content
    torch.testing.assert_close(weights @ changes.flatten(1, 2), whole, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(found @ content, whole, rtol=1e-10, atol=1e-12)
