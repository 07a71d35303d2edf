"""The DNC against its equations, and what its addressing promises."""

import math

import pytest
import torch
from torch import Tensor

from models.words import (
    SIZES,
    STORIES,
    STREAMS,
    batch_of,
    cosine,
    gradients,
    larger,
    numbers,
    softmax,
)
from tpr_rnn.errors import UserError
from tpr_rnn.models import addressing, native
from tpr_rnn.models.dnc import DNC, DNCConfig, Interface
from tpr_rnn.models.registry import make_model

VARIANTS = [{}, {"links": False}, {"deallocate": True}, {"links": False, "deallocate": True}]


def small_dnc(seed: int = 0, **settings) -> DNC:
    sizes = {"hidden_size": 3, "locations": 4, "location_size": 3, "read_heads": 2}
    config = DNCConfig(**SIZES, **(sizes | settings))
    return larger(make_model(config, torch.Generator().manual_seed(seed)), seed)


def reference(model: DNC, words: list[int]) -> Tensor:
    """The scores after the last word: the equations of the paper, number by number."""
    config = model.config
    H, N, W, R = (
        getattr(config, name)
        for name in ("hidden_size", "locations", "location_size", "read_heads")
    )
    zero = torch.zeros((), dtype=torch.float64)
    h, s = torch.zeros(H).double(), torch.zeros(H).double()
    M = [torch.zeros(W).double() for _ in range(N)]
    u, p, w_w = [zero] * N, [zero] * N, [zero] * N
    L = [[zero] * N for _ in range(N)]
    w_r = [[zero] * N for _ in range(R)]
    r = torch.zeros(R * W).double()
    for word in words:
        gates = model.word_weight[word] + model.gate_bias
        gates = gates + model.read_weight @ r + model.hidden_weight @ h
        i, f, o, g = gates.split(H)
        s = f.sigmoid() * s + i.sigmoid() * g.tanh()
        h = o.sigmoid() * s.tanh()
        xi = model.interface_weight @ h + model.interface_bias
        keys, k_w, v, beta_r, beta_w, e, free, g_a, g_w, modes = xi.split(Interface.sizes(config))
        e, free, g_a, g_w = e.sigmoid(), free.sigmoid(), g_a.sigmoid(), g_w.sigmoid()
        # Dynamic memory allocation.
        psi = [math.prod((1 - free[k] * w_r[k][n] for k in range(R)), start=1) for n in range(N)]
        u = [(u[n] + w_w[n] - u[n] * w_w[n]) * psi[n] for n in range(N)]
        phi = sorted(range(N), key=lambda n: (float(u[n].detach()), n))
        a = [zero] * N
        for j in range(N):
            a[phi[j]] = (1 - u[phi[j]]) * math.prod((u[phi[k]] for k in range(j)), start=1)
        # Write.
        strength = 1 + (1 + beta_w.exp()).log()
        c = softmax([strength * cosine(k_w, M[n]) for n in range(N)])
        w_w = [(g_w * (g_a * a[n] + (1 - g_a) * c[n]))[0] for n in range(N)]
        if config.deallocate:
            M = [psi[n] * M[n] for n in range(N)]
        M = [M[n] * (1 - w_w[n] * e) + w_w[n] * v for n in range(N)]
        # Links.
        L = [
            [(1 - w_w[n] - w_w[m]) * L[n][m] + w_w[n] * p[m] if n != m else zero for m in range(N)]
            for n in range(N)
        ]
        p = [(1 - sum(w_w)) * p[n] + w_w[n] for n in range(N)]
        # Read.
        new = []
        for k in range(R):
            key, strength = keys[k * W : (k + 1) * W], 1 + (1 + beta_r[k].exp()).log()
            c = softmax([strength * cosine(key, M[n]) for n in range(N)])
            if config.links:
                pi = softmax(list(modes[3 * k : 3 * k + 3]))
                f = [sum(L[n][m] * w_r[k][m] for m in range(N)) for n in range(N)]
                b = [sum(L[m][n] * w_r[k][m] for m in range(N)) for n in range(N)]
                c = [pi[0] * b[n] + pi[1] * c[n] + pi[2] * f[n] for n in range(N)]
            new.append(c)
        w_r = new
        r = torch.cat([sum(w_r[k][n] * M[n] for n in range(N)) for k in range(R)])
    return model.output_weight @ h + model.output_read_weight @ r


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_it_follows_the_equations_word_by_word(form, variant) -> None:
    model = small_dnc(**variant)
    expected = torch.stack([reference(model, numbers(stream)) for stream in STREAMS])
    logits = model(batch_of(*STORIES))
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(gradients(model, logits), gradients(model, expected))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("lengths", [[40, 40, 17, 3, 1], [16, 1], [17], [5, 0]], ids=str)
def test_the_kernel_is_the_loop(variant, lengths, monkeypatch) -> None:
    """Over several of its pieces, for stories that end before others, and with odd sizes."""
    if not native.usable(torch.zeros(1)):
        pytest.skip("no kernel here")
    model = small_dnc(hidden_size=7, locations=11, location_size=5, read_heads=3, **variant)
    generator = torch.Generator().manual_seed(2)
    words, of = max(lengths), torch.tensor(lengths)
    inputs = torch.randn(words, len(lengths), 28, generator=generator, dtype=torch.float64)
    inputs.requires_grad_()
    read = (torch.arange(words).unsqueeze(1) < of).unsqueeze(2)
    results = []
    for usable in (True, False):
        monkeypatch.setattr(native, "usable", lambda tensor, usable=usable: usable)
        h, r = (found * read for found in model.read(inputs, of))
        weights = torch.randn(h.shape, generator=torch.Generator().manual_seed(3)).double()
        loss = (h * weights).sum() + (r.cumsum(dim=2) * weights[:, :, :1]).sum()
        used = [model.read_weight, model.hidden_weight, model.interface_weight]
        used += [model.interface_bias, inputs]
        results.append((h, r, *torch.autograd.grad(loss, used)))
        with torch.no_grad():
            h_again, r_again = (found * read for found in model.read(inputs, of))
        torch.testing.assert_close((h_again, r_again), (h.detach(), r.detach()))
    torch.testing.assert_close(*results)


def read_steps(model: DNC, steps: int, stories: int = 3, seed: int = 0):
    """Every state of a memory with random interface vectors."""
    generator = torch.Generator().manual_seed(seed)
    state = model.empty_memory(torch.zeros(1, stories, 1, dtype=torch.float64))
    for _ in range(steps):
        xi = torch.randn(
            stories, len(model.interface_bias), generator=generator, dtype=torch.float64
        )
        _, state = model.step(4 * xi, state)
        yield state


@pytest.mark.parametrize("seed", range(3))
def test_weightings_usage_and_links_keep_within_their_bounds(seed) -> None:
    rounding = 1 + 1e-9
    for state in read_steps(small_dnc(locations=6), steps=30, seed=seed):
        assert state.write.min() >= 0
        assert state.read.min() >= 0
        assert state.write.sum(dim=1).max() <= rounding
        assert state.read.sum(dim=2).max() <= rounding
        assert state.usage.min() >= 0
        assert state.usage.max() <= rounding
        assert state.precedence.sum(dim=1).max() <= rounding
        assert state.link.min() >= -1e-9
        assert state.link.diagonal(dim1=1, dim2=2).abs().max() == 0
        assert state.link.sum(dim=1).max() <= rounding
        assert state.link.sum(dim=2).max() <= rounding


def test_allocation_goes_to_the_freest_location() -> None:
    usage = torch.tensor([[0.9, 0.2, 0.7], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    weights = addressing.allocation(usage)
    assert weights[0].argmax() == 1
    torch.testing.assert_close(weights[0, 1], torch.tensor(0.8))
    torch.testing.assert_close(weights[0, 2], torch.tensor(0.2 * 0.3))
    assert weights[1].tolist() == [0, 0, 1]
    assert weights[2].tolist() == [0, 0, 0]  # nothing is free
    assert weights[3].tolist() == [1, 0, 0]  # the first of equals


def hand_made(model: DNC, *, mode: int, write: int = -1, key: int = -1) -> Tensor:
    """An interface vector by hand: write an item, or none, and read in one of the modes."""
    heads, size = model.config.read_heads, model.config.location_size
    off, on = -40.0, 40.0
    modes = torch.full((heads, 3), off)
    modes[:, mode] = on
    item = torch.eye(size)
    parts = (
        item[key].repeat(heads) if key >= 0 else torch.ones(heads * size),  # read keys
        torch.ones(size),  # write key
        item[write] if write >= 0 else torch.zeros(size),  # write vector
        torch.full((heads,), on),  # read strengths
        torch.zeros(1),  # write strength
        torch.full((size,), on),  # erase
        torch.full((heads,), off),  # free gates
        torch.full((1,), on),  # allocation gate: write to free locations
        torch.full((1,), on if write >= 0 else off),  # write gate
        modes.flatten(),
    )
    return torch.cat(parts).double().unsqueeze(0)


def test_links_lead_through_what_was_written_forward_and_backward() -> None:
    model = small_dnc(locations=5, location_size=3, read_heads=2)
    state = model.empty_memory(torch.zeros(1, 1, 1, dtype=torch.float64))
    item = torch.eye(3, dtype=torch.float64)
    for written in range(3):
        _, state = model.step(hand_made(model, mode=1, write=written), state)
    backward, content, forward = 0, 1, 2
    walk = [(content, 0), (forward, 1), (forward, 2), (backward, 1), (backward, 0)]
    for mode, expected in walk:
        found, state = model.step(hand_made(model, mode=mode, key=expected), state)
        for head in range(2):
            torch.testing.assert_close(found[0, head], item[expected], atol=1e-5, rtol=0)


def test_dropout_hides_the_controller_from_the_answer_in_training_alone() -> None:
    batch = batch_of(*STORIES)
    model = small_dnc(bypass_dropout=0.5)
    assert not torch.equal(model.train()(batch), model(batch))
    assert torch.equal(model.eval()(batch), small_dnc()(batch))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"locations": 0}, "locations must be from 1"),
        ({"read_heads": 0}, "read_heads must be from 1"),
        ({"bypass_dropout": 1.0}, "bypass_dropout must be at least 0 and under 1"),
    ],
)
def test_senseless_settings_are_refused(settings, message) -> None:
    with pytest.raises(UserError, match=message):
        DNCConfig(**SIZES, **settings)
