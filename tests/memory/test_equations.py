"""Equations 4, 6 and 9-14 by plain loops over plain numbers."""

from itertools import product

import pytest
import torch

from tpr_rnn.errors import UserError
from tpr_rnn.memory import Associations, check_operations, densify, parallel, sequential


def retrieve(F, entity, relation):
    """(F . entity) . relation, one number at a time."""
    e, r = len(entity), len(relation)
    return [
        sum(F[i][j][f] * entity[i] * relation[j] for i, j in product(range(e), range(r)))
        for f in range(e)
    ]


def bind(entity, relation, filler):
    return [[[a * b * c for c in filler] for b in relation] for a in entity]


def add(F, sign, G):
    for i, j, f in product(range(len(F)), range(len(F[0])), range(len(F[0][0]))):
        F[i][j][f] += sign * G[i][j][f]


def tell_by_hand(story, operations, entity_size, relation_size):
    F = [[[0.0] * entity_size for _ in range(relation_size)] for _ in range(entity_size)]
    for e1, e2, r1, r2, r3 in story:
        w_hat = retrieve(F, e1, r1)  # eq. 9
        m_hat = retrieve(F, e1, r2)  # eq. 11
        b_hat = retrieve(F, e2, r3)  # eq. 13
        if "write" in operations:  # eq. 10
            add(F, -1, bind(e1, r1, w_hat))
            add(F, +1, bind(e1, r1, e2))
        if "move" in operations:  # eq. 12
            add(F, -1, bind(e1, r2, m_hat))
            add(F, +1, bind(e1, r2, w_hat))
        if "backlink" in operations:  # eq. 14
            add(F, -1, bind(e2, r3, b_hat))
            add(F, +1, bind(e2, r3, e1))
        if "swap" in operations:  # d at one place for the other, and -d at the other
            difference = [m - w for m, w in zip(m_hat, w_hat, strict=True)]
            add(F, +1, bind(e1, r1, difference))
            add(F, -1, bind(e1, r2, difference))
    return F


@pytest.mark.parametrize("form", [sequential, parallel], ids=["sequential", "parallel"])
@pytest.mark.parametrize(
    "operations",
    [
        ("write",),
        ("write", "move"),
        ("write", "backlink"),
        ("write", "move", "backlink"),
        ("swap",),
        ("write", "move", "backlink", "swap"),
    ],
    ids="+".join,
)
def test_memory_follows_the_equations(form, operations) -> None:
    generator = torch.Generator().manual_seed(0)
    said = torch.randn(1, 4, 3 + 3 + 2 + 2 + 2, generator=generator, dtype=torch.float64)
    associations = Associations(said[0], torch.arange(4).unsqueeze(0), entity_size=3)
    parts = associations.parts()
    story = [[vectors[0, t].tolist() for vectors in parts] for t in range(4)]
    expected = torch.tensor(tell_by_hand(story, operations, 3, 2), dtype=torch.float64)
    _, memory = form(associations, operations=operations)
    torch.testing.assert_close(densify(memory).tensor[0], expected, rtol=1e-9, atol=1e-9)


def test_operations_come_in_the_order_of_the_paper() -> None:
    assert check_operations(["backlink", "write"]) == ("write", "backlink")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["move"], "move needs write"),
        (["move", "backlink"], "move needs write"),
        (["write", "sing"], "unknown memory operation 'sing'"),
        (["write", "write"], "named twice"),
        ([], "at least one"),
    ],
)
def test_senseless_operations_are_refused(names, message) -> None:
    with pytest.raises(UserError, match=message):
        check_operations(names)
