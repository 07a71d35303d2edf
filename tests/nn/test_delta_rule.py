"""The second-order delta rule against its own equation, one step at a time."""

import pytest
import torch

from tpr_rnn.nn import delta_rule
from tpr_rnn.nn.delta_rule import DeltaRule


@pytest.mark.parametrize("time", [1, 3, 8, 11])
def test_chunks_are_the_steps_one_by_one(time, monkeypatch) -> None:
    monkeypatch.setattr(delta_rule, "CHUNK", 4)
    torch.manual_seed(0)
    layer = DeltaRule(6, key_size=3, value_size=5, heads=2, output_size=4).double()
    x = torch.randn(2, time, 6).double()
    start = torch.randn(2, 2, 3, 5).double()
    parts = layer.parts(x).view(2, time, 2, 12)
    state, found = start.clone(), []
    for t in range(time):
        q, k, v, strength = parts[:, t].split([3, 3, 5, 1], dim=2)
        q, k = (vector / vector.norm(dim=2, keepdim=True) for vector in (q, k))
        change = strength.sigmoid() * (v - torch.einsum("bmc,bmcf->bmf", k, state))
        state = state + torch.einsum("bmc,bmf->bmcf", k, change)
        found.append(layer.norm(torch.einsum("bmc,bmcf->bmf", q, state)).flatten(1))
    y, after = layer(x, start)
    torch.testing.assert_close(after, state)
    torch.testing.assert_close(y, layer.output(torch.stack(found, dim=1)))
