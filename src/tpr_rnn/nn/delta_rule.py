"""A second-order delta rule as a layer, in chunks of plain PyTorch: to compare `TPRMemory` with.

A step writes a value v at a key k, and reads with q:

    S <- S + beta (v - S k) k'        y = S q

That is what write does (eq. 9, 10), with a matrix for a memory. In a chunk that is one triangular
solve, as in `memory.parallel`; S carries on from chunk to chunk.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tpr_rnn.memory import unit

CHUNK = 64
"""Steps that are solved at a time."""


class DeltaRule(nn.Module):
    """Every step writes into matrices, one for each head, then reads each of them once."""

    def __init__(
        self, input_size: int, *, key_size: int, value_size: int, heads: int, output_size: int
    ) -> None:
        super().__init__()
        self.sizes = (key_size, key_size, value_size, 1)
        self.heads = heads
        self.parts = nn.Linear(input_size, heads * sum(self.sizes))
        self.norm = nn.LayerNorm(value_size)
        self.output = nn.Linear(heads * value_size, output_size)

    def forward(
        self,
        x: Float[Tensor, "b t i"],
        state: Float[Tensor, "b m c f"] | None = None,
        *,
        write_mask: Bool[Tensor, "b t"] | None = None,
    ) -> tuple[Float[Tensor, "b t o"], Float[Tensor, "b m c f"]]:
        """What each step has read, and the matrices after the last step; c is the axis of keys."""
        batch, time, _ = x.shape
        parts = self.parts(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
        q, k, v, strength = parts.split(self.sizes, dim=3)
        q, k, beta = unit(q), unit(k), torch.sigmoid(strength)
        if write_mask is not None:
            beta = beta * write_mask[:, None, :, None]
        if state is None:
            state = x.new_zeros(batch, self.heads, self.sizes[1], self.sizes[2])
        found = []
        for start in range(0, time, CHUNK):
            here = slice(start, start + CHUNK)
            y, state = _chunk(q[:, :, here], k[:, :, here], v[:, :, here], beta[:, :, here], state)
            found.append(y)
        y = self.norm(torch.cat(found, dim=2))
        return self.output(y.transpose(1, 2).flatten(2)), state


def _chunk(
    q: Float[Tensor, "b m t c"],
    k: Float[Tensor, "b m t c"],
    v: Float[Tensor, "b m t f"],
    beta: Float[Tensor, "b m t 1"],
    state: Float[Tensor, "b m c f"],
) -> tuple[Float[Tensor, "b m t f"], Float[Tensor, "b m c f"]]:
    """The changes of a chunk: u_t = beta_t (v_t - S k_t - sum over s < t of (k_t . k_s) u_s)."""
    lower = (beta * (k @ k.mT)).tril(-1)
    wanted = beta * (v - k @ state)
    change: Tensor = torch.linalg.solve_triangular(lower, wanted, upper=False, unitriangular=True)
    return q @ state + (q @ k.mT).tril() @ change, state + k.mT @ change
