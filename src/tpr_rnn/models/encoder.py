"""The input module: a sentence as one vector of the symbol space (eq. 5)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding

from tpr_rnn.models import parts


class SentenceEncoder(nn.Module):
    """s = sum over i of d_i * p_i: word vectors weighed by position vectors (eq. 5).

    The padding word is a word like any other here: it has a learned vector and takes part.
    """

    def __init__(
        self,
        vocabulary_size: int,
        words: int,
        scale: float,
        generator: torch.Generator | None,
        symbol_size: int | None = None,
    ) -> None:
        super().__init__()
        # dim(V_Symbol) is the size of the vocabulary in the paper (appendix A).
        size = vocabulary_size if symbol_size is None else symbol_size
        word_vectors = torch.empty(vocabulary_size, size)
        self.word_vectors = nn.Parameter(word_vectors.uniform_(-scale, scale, generator=generator))
        self.position_vectors = nn.Parameter(torch.full((words, size), 1 / words))

    def forward(self, words: Int[Tensor, "u w"]) -> Float[Tensor, "u v"]:
        """Encode sentences."""
        vectors = self.word_vectors, self.position_vectors
        if parts.usable(*vectors):
            return parts.encode(encode, words, *vectors)
        return encode(words, *vectors)


def encode(
    words: Int[Tensor, "u w"],
    word_vectors: Float[Tensor, "n v"],
    position_vectors: Float[Tensor, "w v"],
) -> Float[Tensor, "u v"]:
    """Encode sentences (eq. 5) in PyTorch."""
    return (embedding(words, word_vectors) * position_vectors).sum(dim=1)


def position_encoding(words: int, size: int) -> Float[Tensor, "w v"]:
    """Fixed weights of the word at each position (l in MemN2N and DMN+).

    l_jk = 1 + 4 (j - (J + 1) / 2) (k - (d + 1) / 2) / (J d), as the released MemN2N has them. What
    the papers print, (1 - j/J) - (k/d) (1 - 2j/J), is half of it but for the offsets; the mean of
    these weights is 1. J counts the words of the longest sentence.
    """
    j = torch.arange(1, words + 1) - (words + 1) / 2
    k = torch.arange(1, size + 1) - (size + 1) / 2
    return 1 + 4 * torch.outer(j, k) / (words * size)
