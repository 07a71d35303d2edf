"""Doubt: is a model that says 90 % right nine times of ten?

A model that makes no mistake in training becomes ever surer. One number mends that: its scores are
divided by a temperature, chosen on validation questions, before they become probabilities (Guo et
al. 2017). No answer changes by that, only how sure the model says it is.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from tpr_rnn.data.encoding import UNKNOWN_ANSWER

BINS = 15
_LARGEST = 10.0
_STEPS = 25


def fit_temperature(logits: Float[Tensor, "n v"], answer: Int[Tensor, " n"]) -> float:
    """The temperature, from 1 to 10, with the least cross-entropy of the answers.

    It is never below 1: validation questions without a mistake are no reason to be surer still.
    """

    def loss(temperature: float) -> float:
        return float(cross_entropy(logits / temperature, answer, ignore_index=UNKNOWN_ANSWER))

    # Golden section: the loss has one minimum over the inverse of the temperature.
    low, high = 1 / _LARGEST, 1.0
    ratio = (5**0.5 - 1) / 2
    for _ in range(_STEPS):
        one, other = high - ratio * (high - low), low + ratio * (high - low)
        if loss(1 / one) < loss(1 / other):
            high = other
        else:
            low = one
    best = 2 / (low + high)
    return best if loss(best) < loss(1.0) else 1.0


def calibration_error(
    logits: Float[Tensor, "n v"], answer: Int[Tensor, " n"], temperature: float = 1.0
) -> float:
    """The expected calibration error in percent.

    Answers are put into bins by how sure the model is of them; in each bin the mean of that and
    the share of right answers should be equal. The differences are averaged over all answers.
    """
    sure, word = (logits / temperature).softmax(dim=1).max(dim=1)
    right = (word == answer).float()
    place = (sure * BINS).long().clamp(max=BINS - 1)
    difference = torch.zeros(BINS).index_add(0, place, sure - right)
    return 100 * float(difference.abs().sum()) / max(len(answer), 1)
