"""The two forms in which models with a controller read."""

import pytest
import torch

from tpr_rnn.models import native


@pytest.fixture(params=["plain", "native"])
def form(request, monkeypatch) -> str:
    """Either form: the loop in PyTorch, or the kernel."""
    if request.param == "plain":
        monkeypatch.setattr(native, "usable", lambda tensor: False)
    elif not native.usable(torch.zeros(1)):
        pytest.skip("no kernel here")
    return request.param
