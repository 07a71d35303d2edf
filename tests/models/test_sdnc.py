"""The sparse DNC against its equations, and what its addressing promises."""

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
from tpr_rnn.models.registry import make_model
from tpr_rnn.models.sdnc import SDNC, Interface, SDNCConfig

VARIANTS = [{"reads": 2, "links": 2}, {"reads": 4, "links": 4}, {"reads": 3, "links": 1}]


def small_sdnc(seed: int = 0, **settings) -> SDNC:
    sizes = {"hidden_size": 3, "locations": 4, "location_size": 3, "read_heads": 2}
    config = SDNCConfig(**SIZES, **(sizes | {"reads": 2, "links": 2} | settings))
    return larger(make_model(config, torch.Generator().manual_seed(seed)), seed)


def largest(values: list[Tensor], count: int) -> list[int]:
    """The places of the largest values, of equal ones the first."""
    return sorted(range(len(values)), key=lambda n: (-float(values[n]), n))[:count]


def cut(values: list[Tensor], count: int) -> list[Tensor]:
    """The largest values, and zeros."""
    kept = largest([value.detach() for value in values], count)
    return [value if n in kept else torch.zeros(()).double() for n, value in enumerate(values)]


def reference(model: SDNC, words: list[int]) -> Tensor:
    """The scores after the last word: the equations of the paper, number by number."""
    config = model.config
    H, N, W, R = (
        getattr(config, name)
        for name in ("hidden_size", "locations", "location_size", "read_heads")
    )
    zero = torch.zeros((), dtype=torch.float64)
    h, s = torch.zeros(H).double(), torch.zeros(H).double()
    M = [torch.zeros(W).double() for _ in range(N)]
    p, accessed = [zero] * N, [0] * N
    after = [[zero] * N for _ in range(N)]  # N_t
    before = [[zero] * N for _ in range(N)]  # P_t
    w_r = [[zero] * N for _ in range(R)]
    r = torch.zeros(R * W).double()
    for time, word in enumerate(words, start=1):
        gates = model.word_weight[word] + model.gate_bias
        gates = gates + model.read_weight @ r + model.hidden_weight @ h
        i, f, o, g = gates.split(H)
        s = f.sigmoid() * s + i.sigmoid() * g.tanh()
        h = o.sigmoid() * s.tanh()
        xi = model.interface_weight @ h + model.interface_bias
        keys, a, beta, gamma, alpha, modes = xi.split(Interface.sizes(config))
        gamma, alpha = gamma.sigmoid()[0], alpha.sigmoid()[0]
        # Write (eq. 5, 8).
        oldest = min(range(N), key=lambda n: (accessed[n], n))
        last = [sum(w_r[k][n] for k in range(R)) / R for n in range(N)]
        w = [alpha * (gamma * last[n] + (1 - gamma) * (n == oldest)) for n in range(N)]
        M = [(M[n] * 0 if n == oldest else M[n]) + w[n] * a for n in range(N)]
        # Links (eq. 11, 19, 20), without gradients.
        w_ = [each.detach() for each in w]
        after = [
            cut(
                [(1 - w_[n]) * after[n][m] + w_[n] * p[m] if n != m else zero for m in range(N)],
                config.links,
            )
            for n in range(N)
        ]
        before = [
            cut(
                [(1 - w_[m]) * before[n][m] + w_[m] * p[n] if n != m else zero for m in range(N)],
                config.links,
            )
            for n in range(N)
        ]
        p = cut([(1 - sum(w_)) * p[n] + w_[n] for n in range(N)], config.links)
        # Read (eq. 21, 22).
        new = []
        for k in range(R):
            key, strength = keys[k * W : (k + 1) * W], 1 + (1 + beta[k].exp()).log()
            near = [cosine(key, M[n]) for n in range(N)]
            chosen = sorted(largest([each.detach() for each in near], config.reads))
            weights = softmax([strength * near[n] for n in chosen])
            content = [weights[chosen.index(n)] if n in chosen else zero for n in range(N)]
            forward = [sum(after[n][m] * w_r[k][m] for m in range(N)) for n in range(N)]
            backward = [sum(before[n][m] * w_r[k][m] for m in range(N)) for n in range(N)]
            total = float(sum(forward).detach())
            forward = [each / max(1.0, total) for each in forward]
            pi = softmax(list(modes[3 * k : 3 * k + 3]))
            mixed = [
                pi[0] * backward[n] + pi[1] * content[n] + pi[2] * forward[n] for n in range(N)
            ]
            new.append(cut(mixed, config.reads))
        w_r = new
        for n in range(N):
            if float((w[n] + sum(w_r[k][n] for k in range(R)) / R).detach()) > 0.005:
                accessed[n] = time
        r = torch.cat([sum(w_r[k][n] * M[n] for n in range(N)) for k in range(R)])
    return model.output_weight @ h + model.output_read_weight @ r


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_it_follows_the_equations_word_by_word(form, variant) -> None:
    model = small_sdnc(**variant)
    expected = torch.stack([reference(model, numbers(stream)) for stream in STREAMS])
    logits = model(batch_of(*STORIES))
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(gradients(model, logits), gradients(model, expected))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("lengths", [[40, 40, 17, 3, 1], [16, 1], [5, 0]], ids=str)
def test_the_kernel_is_the_loop(variant, lengths, monkeypatch) -> None:
    """Over several of its pieces, for stories that end before others, and with odd sizes."""
    if not native.usable(torch.zeros(1)):
        pytest.skip("no kernel here")
    model = small_sdnc(hidden_size=7, locations=11, location_size=5, read_heads=3, **variant)
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
        results.append((h, r, *torch.autograd.grad(loss, [*used, model.interface_bias, inputs])))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_weightings_and_links_keep_within_their_bounds(variant) -> None:
    model = small_sdnc(**(variant | {"locations": 7}))
    generator = torch.Generator().manual_seed(0)
    state = model.empty_memory(torch.zeros(1, 3, 1, dtype=torch.float64))
    rounding, written = 1 + 1e-9, 0
    for _ in range(40):
        xi = torch.randn(3, len(model.interface_bias), generator=generator, dtype=torch.float64)
        old = state
        _, state = model.step(4 * xi, state)
        assert state.read.min() >= 0
        assert state.read.sum(dim=2).max() <= rounding
        assert (state.read > 0).sum(dim=2).max() <= model.config.reads
        assert state.precedence.sum(dim=1).max() <= rounding
        for rows in (state.next, state.previous):
            assert rows.min() >= 0
            assert rows.diagonal(dim1=1, dim2=2).abs().max() == 0
            assert (rows > 0).sum(dim=2).max() <= model.config.links
        assert state.next.sum(dim=2).max() <= rounding  # the predecessors of a location
        assert state.previous.sum(dim=1).max() <= rounding
        changed = (state.memory != old.memory).any(dim=2).sum(dim=1)
        written = max(written, int(changed.max()))
    assert written <= 2 * model.config.reads + 1  # what two heads have read, and the oldest


def hand_made(model: SDNC, mode: int, write: int | None = None, key: int | None = None) -> Tensor:
    """An interface vector by hand: write an item, or none, and read in one of the modes."""
    heads, size = model.config.read_heads, model.config.location_size
    off, on = -40.0, 40.0
    modes = torch.full((heads, 3), off)
    modes[:, mode] = on
    item = torch.eye(size)
    parts = (
        (torch.ones(size) if key is None else item[key]).repeat(heads),
        torch.zeros(size) if write is None else item[write],
        torch.full((heads,), on),  # strengths
        torch.full((1,), off),  # interpolation: write to the oldest location
        torch.full((1,), off if write is None else on),  # write gate
        modes.flatten(),
    )
    return torch.cat(parts).double().unsqueeze(0)


BACKWARD, CONTENT, FORWARD = 0, 1, 2


def test_links_lead_through_what_was_written_forward_and_backward() -> None:
    model = small_sdnc(locations=12, location_size=3, read_heads=2, reads=1)
    state = model.empty_memory(torch.zeros(1, 1, 1, dtype=torch.float64))
    item = torch.eye(3, dtype=torch.float64)
    for written in range(3):
        _, state = model.step(hand_made(model, CONTENT, write=written, key=written), state)
    walk = [(CONTENT, 0), (FORWARD, 1), (FORWARD, 2), (BACKWARD, 1), (BACKWARD, 0)]
    for mode, expected in walk:
        found, state = model.step(hand_made(model, mode, key=expected), state)
        for head in range(2):
            torch.testing.assert_close(found[0, head], item[expected], atol=1e-5, rtol=0)


def test_with_all_locations_it_is_dense() -> None:
    """A lookup is the DNC's; so are the links, until a location is written again."""
    n = 6
    model = small_sdnc(locations=n, location_size=4, reads=n, links=n)
    generator = torch.Generator().manual_seed(0)
    state = model.empty_memory(torch.zeros(1, 1, 1, dtype=torch.float64))
    link, precedence = state.next, state.precedence
    for place in range(n):
        xi = hand_made(model, CONTENT, write=0)
        xi[:, :12] += torch.randn(1, 12, generator=generator, dtype=torch.float64)
        parts = Interface.of(xi, model.config)
        _, state = model.step(xi, state)
        write = torch.eye(n, dtype=torch.float64)[[place]]
        link = addressing.new_link(link, write, precedence)
        precedence = addressing.new_precedence(precedence, write)
        content = addressing.content_weighting(state.memory, parts.keys, parts.strengths)
        torch.testing.assert_close(state.read, content)
        torch.testing.assert_close(state.precedence, precedence)
        torch.testing.assert_close(state.next, link)
        torch.testing.assert_close(state.previous, link.mT)
        written = torch.arange(n).unsqueeze(0) <= place
        state = state._replace(accessed=written.double())  # the next one is the oldest


def test_senseless_settings_are_refused() -> None:
    with pytest.raises(UserError, match="reads must be from 1"):
        SDNCConfig(**SIZES, reads=0)
