"""What memories are for, in seconds: copying a sequence, and recalling what came after a key."""

import pytest
import torch
from torch.nn.functional import cross_entropy, embedding, linear

from tpr_rnn.models.dnc import DNCConfig
from tpr_rnn.models.registry import make_model
from tpr_rnn.models.sdnc import SDNCConfig

SYMBOLS, STORIES = 4, 32
"""Symbols have the numbers from 1; the one behind them says 'now', the next 'the key is'."""


def copying(generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Three symbols, then three times 'now'; what is to be said is -1 where nothing is."""
    symbols = torch.randint(1, SYMBOLS + 1, (3, STORIES), generator=generator)
    words = torch.cat((symbols, torch.full_like(symbols, SYMBOLS + 1)))
    return words, torch.cat((torch.full_like(symbols, -1), symbols))


def recalling(generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Two different keys, each with a symbol behind it, then one of the keys again."""
    keys = torch.rand(SYMBOLS, STORIES, generator=generator).argsort(dim=0)[:2] + 1
    values = torch.randint(1, SYMBOLS + 1, (2, STORIES), generator=generator)
    asked = torch.randint(0, 2, (1, STORIES), generator=generator)
    mark = torch.full((1, STORIES), SYMBOLS + 2)
    key, value = keys.gather(0, asked), values.gather(0, asked)
    words = torch.cat((keys[:1], values[:1], keys[1:], values[1:], mark, key))
    return words, torch.cat((torch.full((5, STORIES), -1), value))


@pytest.mark.parametrize("task", [copying, recalling])
@pytest.mark.parametrize("config", [DNCConfig, SDNCConfig])
def test_it_is_learned(config, task) -> None:
    sizes = {"hidden_size": 32, "locations": 8, "location_size": 8, "read_heads": 1}
    generator = torch.Generator().manual_seed(0)
    model = make_model(config(vocabulary_size=SYMBOLS + 3, max_words=1, **sizes), generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(1_000):
        words, answers = task(generator)
        inputs = embedding(words, model.word_weight) + model.gate_bias
        h, r = model.read(inputs, torch.full((STORIES,), len(words)))
        scores = linear(h, model.output_weight) + linear(r, model.output_read_weight)
        loss = cross_entropy(scores.flatten(0, 1), answers.flatten(), ignore_index=-1)
        if loss < 0.05:
            return
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pytest.fail(f"not learned: the loss is {loss:.3f} after 1,000 steps")
