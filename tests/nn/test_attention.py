"""The attention of a layer adds up to what its reads find: checked against the memory itself."""

import pytest
import torch

from memory.random_stories import SUBSETS, TOLERANCE
from nn.test_memory_layer import make_input, make_layer, make_state
from tpr_rnn.errors import UserError
from tpr_rnn.memory import DenseMemory, read, sequential


def reads_by_hand(layer, x, before, **settings):
    """What each hop finds before its layer norm: story, head, hop, step, filler."""
    told = layer.tell(x, **settings)
    e, r = layer.entity_size, layer.relation_size
    batch, time = x.shape[:2]
    found = torch.zeros(batch, layer.heads, layer.hops, time, e).double()
    for n in range(batch * layer.heads):
        state = DenseMemory(before.tensor.flatten(0, 1)[[n]])
        said = told.associations._replace(story=told.associations.story[[n]])
        length = time if told.lengths is None else int(told.lengths[n])
        for t in range(time):
            _, memory = sequential(
                said.between(0, min(t + 1, length)), operations=layer.operations, state=state
            )
            row = told.queries.table[told.queries.row[n * time + t]]
            entity, *relations = row.split([e] + [r] * layer.hops)
            for hop, relation in enumerate(relations):
                entity = read(memory, entity[None], relation[None])[0]
                found[n // layer.heads, n % layer.heads, hop, t] = entity
                entity = torch.layer_norm(entity, (e,), eps=1e-7)
                entity = entity * layer.scale[hop] + layer.shift[hop]
    return found


@pytest.mark.parametrize("operations", [subset for subset in SUBSETS if subset != ("swap",)])
def test_it_adds_up_to_what_is_found(operations) -> None:
    layer, x = make_layer(operations=operations), make_input(2, 6)
    settings = {
        "lengths": torch.tensor([6, 4]),
        "write_mask": torch.tensor([[True, True, False, True, True, True]]).expand(2, 6),
    }
    found = layer.attention(x, **settings)
    total = torch.einsum("bmsqto,bmtof->bmsqf", found.weights, found.told)
    expected = reads_by_hand(layer, x, layer.empty_state(2), **settings)
    torch.testing.assert_close(total, expected, **TOLERANCE)


def test_steps_to_come_and_steps_that_do_not_write_have_no_weight() -> None:
    layer, x = make_layer(), make_input(1, 5)
    write = torch.tensor([[True, False, True, True, True]])
    weights = layer.attention(x, write_mask=write).weights
    assert not weights[:, :, :, :, 1].any()
    assert not weights.movedim((3, 4), (0, 1))[torch.ones(5, 5).triu(1).bool()].any()
    assert weights[0, 0, 0, 4, 4].all()


def test_a_state_is_not_in_it_but_guides_the_hops() -> None:
    layer, x = make_layer(), make_input(1, 5)
    state = make_state(layer, 1)
    first, with_state = layer.attention(x).weights, layer.attention(x, state).weights
    torch.testing.assert_close(first[:, :, 0], with_state[:, :, 0], **TOLERANCE)
    assert not torch.allclose(first[:, :, 1], with_state[:, :, 1])


def test_it_is_drawn(tmp_path) -> None:
    found = make_layer().attention(make_input(2, 4))
    found.draw(tmp_path / "one.png", story=1, head=1, steps=["a", "b", "c", "d"])
    assert (tmp_path / "one.png").stat().st_size > 5_000
    with pytest.raises(UserError, match="4 steps, but 1 names"):
        found.draw(tmp_path / "two.png", steps=["a"])
    with pytest.raises(UserError, match="ends in"):
        found.draw(tmp_path / "two.txt")
