"""The table of operations against what the paper says."""

import pytest
import torch

from tpr_rnn.memory import OPERATIONS, SPECS, Associations, check_operations, retrieved, sequential


def test_the_paper_has_three_and_the_table_has_them_in_its_order() -> None:
    assert tuple(name for name in SPECS if name in OPERATIONS) == OPERATIONS
    assert [spec.name for spec in SPECS.values()] == list(SPECS)


def test_move_reads_all_that_it_takes_away_at_once_and_stores_nothing_of_its_own() -> None:
    assert SPECS["move"].read == {"r2": 1, "r1": -1}
    assert SPECS["move"].content == {}
    assert SPECS["move"].needs == (SPECS["write"],)
    for name, content in (("write", "e2"), ("backlink", "e1")):
        assert SPECS[name].read == SPECS[name].relation
        assert SPECS[name].content == {content: 1}
        assert SPECS[name].needs == ()


@pytest.mark.parametrize(
    "operations", [("write",), ("backlink",), ("write", "move"), OPERATIONS], ids="+".join
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
            (relation,) = SPECS[name].relation
            key = (parts[SPECS[name].source][0, t], parts[relation][0, t])
            expected = torch.einsum("e,r,erf->f", *key, before.tensor[0])
            torch.testing.assert_close(found[SPECS[name].found][0, t], expected)
