"""How a differentiable neural computer finds its places in memory, as pure functions.

The names and symbols are those of Graves et al., "Hybrid computing using a neural network with
dynamic external memory" (Nature 2016, Methods), whose equations have no numbers. Axes: `b` story,
`n` location of the memory, `d` number within a location, `i` read head.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import softplus

EPSILON = 1e-6
"""Added to squared lengths, as in the authors' program: a new memory is empty."""


def oneplus(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """1 + log(1 + e^x): at least 1."""
    return 1 + softplus(x)


def cosine(memory: Float[Tensor, "b n d"], keys: Float[Tensor, "b i d"]) -> Float[Tensor, "b i n"]:
    """D(k, M[n]), the cosine of the angle between each key and each location."""
    lengths = (memory.square().sum(dim=2) + EPSILON).sqrt()
    key_lengths = (keys.square().sum(dim=2) + EPSILON).sqrt()
    return keys @ memory.mT / (key_lengths.unsqueeze(2) * lengths.unsqueeze(1))


def content_weighting(
    memory: Float[Tensor, "b n d"], keys: Float[Tensor, "b i d"], strengths: Float[Tensor, "b i"]
) -> Float[Tensor, "b i n"]:
    """C(M, k, beta)[n], a softmax of beta D(k, M[n]) over the locations."""
    return (strengths.unsqueeze(2) * cosine(memory, keys)).softmax(dim=2)


def retention(
    free_gates: Float[Tensor, "b i"], read: Float[Tensor, "b i n"]
) -> Float[Tensor, "b n"]:
    """psi_t = product over i of 1 - f^i w^r,i: how much of a location is not freed."""
    return (1 - free_gates.unsqueeze(2) * read).prod(dim=1)


def new_usage(
    usage: Float[Tensor, "b n"], write: Float[Tensor, "b n"], kept: Float[Tensor, "b n"]
) -> Float[Tensor, "b n"]:
    """u_t = (u + w^w - u w^w) psi_t: written locations are used, freed ones are not."""
    return (usage + write - usage * write) * kept


def allocation(usage: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    """a_t[phi_j] = (1 - u[phi_j]) times the product of u[phi_i], i < j, for phi = argsort u.

    The order itself has no gradient.
    """
    ascending, free_list = usage.sort(dim=1, stable=True)
    before = torch.cat((torch.ones_like(usage[:, :1]), ascending[:, :-1].cumprod(dim=1)), dim=1)
    return torch.zeros_like(usage).scatter(1, free_list, (1 - ascending) * before)


def written(
    memory: Float[Tensor, "b n d"],
    write: Float[Tensor, "b n"],
    erase: Float[Tensor, "b d"],
    vector: Float[Tensor, "b d"],
) -> Float[Tensor, "b n d"]:
    """M_t = M (1 - w^w e') + w^w v'."""
    write = write.unsqueeze(2)
    return memory * (1 - write * erase.unsqueeze(1)) + write * vector.unsqueeze(1)


def new_precedence(
    precedence: Float[Tensor, "b n"], write: Float[Tensor, "b n"]
) -> Float[Tensor, "b n"]:
    """p_t = (1 - sum of w^w) p + w^w: where was written last."""
    return (1 - write.sum(dim=1, keepdim=True)) * precedence + write


def new_link(
    link: Float[Tensor, "b n n"], write: Float[Tensor, "b n"], precedence: Float[Tensor, "b n"]
) -> Float[Tensor, "b n n"]:
    """L_t[i, j] = (1 - w^w[i] - w^w[j]) L[i, j] + w^w[i] p[j]: i was written after j.

    Nothing was written after itself: the diagonal is 0.
    """
    after, before = write.unsqueeze(2), write.unsqueeze(1)
    link = (1 - after - before) * link + after * precedence.unsqueeze(1)
    return link * (1 - torch.eye(link.shape[1], dtype=link.dtype, device=link.device))


def along(
    link: Float[Tensor, "b n n"], read: Float[Tensor, "b i n"]
) -> tuple[Float[Tensor, "b i n"], Float[Tensor, "b i n"]]:
    """f = L w^r and b = L' w^r: what was written after, and before, what was read."""
    return read @ link.mT, read @ link
