"""In float32, where rounding differs, training runs of all forms of the memory stay together."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from tpr_rnn.data.batches import epoch_order, make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.simulator import generate
from tpr_rnn.data.story import Story
from tpr_rnn.memory import native, parallel, sequential
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.training.optimizers import FlatNAdam

STEPS = 40


def in_chunks(associations, **settings):
    return parallel(associations, chunk=3, **settings)


@pytest.fixture(scope="module")
def told() -> list[Story]:
    return generate("1", questions=400)["train"]


def losses(told: list[Story], memory_form) -> list[float]:
    """The training losses of a short run on stories of task 1."""
    vocabulary, words = build_vocabulary(told), longest_sentence(told)
    data = encode({"1": told}, vocabulary, words)
    config = TPRRNNConfig(
        vocabulary_size=len(vocabulary), max_words=words, bounded_keys=True, embedding_scale=0.1
    )
    model = TPRRNN(config, generator=torch.Generator().manual_seed(0), memory_form=memory_form)
    optimizer = FlatNAdam(model.parameters(), beta1=0.9, beta2=0.999, epsilon=1e-8)
    curve = []
    for step in range(STEPS):
        batch = make_batch(data, epoch_order(data, seed=0, epoch=step)[:32])
        optimizer.zero_gradient()
        loss = cross_entropy(model(batch), batch.answer)
        loss.backward()
        optimizer.clip_norm(5.0)
        optimizer.step(0.003)
        curve.append(float(loss.detach()))
    return curve


@pytest.fixture(scope="module")
def oracle(told) -> list[float]:
    return losses(told, sequential)


@pytest.mark.parametrize("kernel", ["native", "torch"])
@pytest.mark.parametrize("form", [parallel, in_chunks])
def test_the_losses_of_a_run_are_those_of_the_oracle(
    told, oracle, form, kernel, monkeypatch
) -> None:
    if kernel == "torch":
        monkeypatch.setattr(native, "usable", lambda *_: False)
    elif not native.usable(torch.zeros(1)):
        pytest.skip(native.status())
    curve = losses(told, form)
    assert oracle[-1] < 0.7 * oracle[0], "the run is too short to learn anything"
    torch.testing.assert_close(curve, oracle, rtol=2e-3, atol=0)
