"""The state of a layer: a value that can be kept, moved, chosen from and saved."""

import pytest
import torch
from safetensors.torch import save_file

from tpr_rnn.errors import UserError
from tpr_rnn.nn import MemoryState, TPRMemory


@pytest.fixture
def state() -> MemoryState:
    torch.manual_seed(0)
    _, state = TPRMemory(4, entity_size=3, relation_size=2, heads=2)(torch.randn(5, 6, 4))
    return state


def test_its_size_does_not_depend_on_what_was_read(state) -> None:
    layer = TPRMemory(4, entity_size=3, relation_size=2, heads=2)
    for steps in (1, 2, 300):
        _, after = layer(torch.randn(5, steps, 4))
        assert (type(after), after.tensor.shape) == (MemoryState, state.tensor.shape)


def test_it_is_detached_and_turned_into_other_numbers(state) -> None:
    assert state.tensor.requires_grad
    assert not state.detach().tensor.requires_grad
    assert state.to(torch.float64).tensor.dtype == torch.float64
    assert state.to("meta").tensor.device.type == "meta"


def test_stories_are_chosen(state) -> None:
    assert len(state) == 5
    for which, rows in ((1, [1]), (-1, [4]), (slice(1, 3), [1, 2]), ([4, 0], [4, 0])):
        assert torch.equal(state[which].tensor, state.tensor[rows])
    assert torch.equal(state[torch.tensor([2, 2])].tensor, state.tensor[[2, 2]])
    assert torch.equal(state[state.tensor[:, 0, 0, 0, 0] < 9].tensor, state.tensor)
    assert torch.equal(state[torch.tensor(3)].tensor, state.tensor[[3]])
    assert [len(one) for one in state] == [1] * 5


def test_the_layer_does_not_change_the_state_that_it_is_given() -> None:
    layer = TPRMemory(4, entity_size=3, relation_size=2)
    before = layer.empty_state(1)
    layer(torch.randn(1, 6, 4), before)
    assert not before.tensor.any()


def test_it_is_saved_and_loaded(state, tmp_path) -> None:
    state.save(tmp_path / "memory.safetensors")
    loaded = MemoryState.load(tmp_path / "memory.safetensors")
    assert torch.equal(loaded.tensor, state.tensor)
    state[2].save(str(tmp_path / "one.safetensors"))
    assert torch.equal(MemoryState.load(str(tmp_path / "one.safetensors")).tensor, state[2].tensor)


def test_what_is_no_saved_memory_is_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="no such file"):
        MemoryState.load(tmp_path / "none.safetensors")
    (tmp_path / "text.safetensors").write_text("hello")
    with pytest.raises(UserError, match="damaged"):
        MemoryState.load(tmp_path / "text.safetensors")
    save_file({"weight": torch.zeros(2)}, tmp_path / "model.safetensors")
    with pytest.raises(UserError, match="not a saved memory; it holds weight"):
        MemoryState.load(tmp_path / "model.safetensors")
