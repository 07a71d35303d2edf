"""The table of operations against what the paper says."""

import re

import pytest
import torch

from tpr_rnn.memory import (
    OPERATIONS,
    SPECS,
    Associations,
    DenseMemory,
    check_operations,
    parallel,
    retrieved,
    sequential,
)


def test_the_paper_has_three_and_the_table_has_them_in_its_order() -> None:
    assert tuple(name for name in SPECS if name in OPERATIONS) == OPERATIONS
    assert [spec.name for spec in SPECS.values()] == list(SPECS)


def test_the_key_of_an_operation_is_an_entity_and_its_first_relation() -> None:
    keys = {name: spec.key for name, spec in SPECS.items()}
    assert keys["write"] == ("e1", "r1")
    assert keys["move"] == ("e1", "r2")
    assert keys["backlink"] == ("e2", "r3")
    assert keys["swap"] == ("e1", "r1")  # at e1 and r1 - r2


def test_what_people_see_of_an_operation_fits_and_the_equations_are_the_papers() -> None:
    for spec in SPECS.values():
        for words in (spec.title, spec.purpose, spec.meaning):
            assert re.fullmatch("[a-z ]+", words)
        for colour in (spec.colour, spec.colour_on_dark):
            assert re.fullmatch("#[0-9a-f]{6}", colour)
        assert spec.line in ("solid", "dashed", "dotted")
    assert [spec.symbol for spec in SPECS.values()] == ["W", "M", "B", "S"]
    equations = {"write": (9, 10), "move": (11, 12), "backlink": (13, 14), "swap": ()}
    assert {name: spec.equations for name, spec in SPECS.items()} == equations


def test_move_reads_all_that_it_takes_away_at_once_and_stores_nothing_of_its_own() -> None:
    assert SPECS["move"].read == {"r2": 1, "r1": -1}
    assert SPECS["move"].content == {}
    assert SPECS["move"].needs == (SPECS["write"],)
    for name, content in (("write", "e2"), ("backlink", "e1")):
        assert SPECS[name].read == SPECS[name].relation
        assert SPECS[name].content == {content: 1}
        assert SPECS[name].needs == ()


@pytest.mark.parametrize(
    "operations",
    [("write",), ("backlink",), ("write", "move"), OPERATIONS, (*OPERATIONS, "swap")],
    ids="+".join,
)
def test_what_was_found_follows_from_the_changes(operations) -> None:
    table = torch.randn(3, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    said = Associations(table, torch.tensor([[0, 1, 2]]), entity_size=3)
    changes, _ = sequential(said, operations=operations)
    found = retrieved(said.parts(), changes, check_operations(operations))
    assert set(found) == {SPECS[name].found for name in operations}
    parts = said.parts()._asdict()
    for t in range(3):
        _, before = sequential(said.between(0, t), operations=operations)
        for name in operations:
            relation = sum(
                factor * parts[part][0, t] for part, factor in SPECS[name].relation.items()
            )
            key = (parts[SPECS[name].source][0, t], relation)
            expected = torch.einsum("e,r,erf->f", *key, before.tensor[0])
            torch.testing.assert_close(found[SPECS[name].found][0, t], expected)


def test_swap_exchanges_what_stands_at_two_orthogonal_keys() -> None:
    memory = torch.randn(1, 3, 4, 3, generator=torch.Generator().manual_seed(1)).double()
    one, other = (torch.eye(4).double()[relation].view(1, 1, 4) for relation in (0, 2))
    here = torch.eye(3).double()[1].view(1, 1, 3)
    said = Associations.of(e1=here, e2=torch.ones_like(here), r1=one, r2=other, r3=one)
    _, after = parallel(said, operations=("swap",), state=DenseMemory(memory))
    expected = memory.clone()
    expected[0, 1, [0, 2]] = memory[0, 1, [2, 0]]
    torch.testing.assert_close(after.tensor, expected)


def test_swap_is_not_among_those_of_the_paper() -> None:
    assert "swap" in SPECS
    assert "swap" not in OPERATIONS
    assert SPECS["swap"].needs == ()
    assert check_operations(["swap", "write"]) == ("write", "swap")
