"""NAdam against numbers worked out by hand, and against a plain implementation."""

import math

import pytest
import torch
from torch import nn

from tpr_rnn.training.nadam import FlatNAdam


def test_two_steps_by_hand() -> None:
    parameter = nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    optimizer = FlatNAdam([parameter], beta1=0.5, beta2=0.75, epsilon=0.0)
    # Step 1, g = 2: m = 1, v = 1, m_bar = 0.5 * 1 + 0.5 * 2 = 1.5,
    # rate 0.1 * sqrt(0.25) / 0.5 = 0.1, change 0.1 * 1.5 / 1 = 0.15.
    parameter.grad[0] = 2.0
    optimizer.step(0.1)
    assert parameter.item() == pytest.approx(0.85, abs=1e-12)
    # Step 2, g = -4: m = 0.5 - 2 = -1.5, v = 0.75 + 4 = 4.75, m_bar = -0.75 - 2 = -2.75,
    # rate 0.1 * sqrt(1 - 0.5625) / 0.75, change rate * -2.75 / sqrt(4.75).
    parameter.grad[0] = -4.0
    optimizer.step(0.1)
    change = 0.1 * math.sqrt(0.4375) / 0.75 * -2.75 / math.sqrt(4.75)
    assert parameter.item() == pytest.approx(0.85 - change, abs=1e-12)


def test_epsilon_stands_outside_the_root() -> None:
    parameter = nn.Parameter(torch.tensor([0.0], dtype=torch.float64))
    optimizer = FlatNAdam([parameter], beta1=0.0, beta2=0.0, epsilon=1.0)
    parameter.grad[0] = 3.0
    optimizer.step(1.0)
    assert parameter.item() == pytest.approx(-3 / (3 + 1), abs=1e-12)


def test_parameters_and_gradients_are_views_of_the_flat_buffers() -> None:
    first, second = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.full((4,), 2.0))
    optimizer = FlatNAdam([first, second], beta1=0.9, beta2=0.999, epsilon=1e-8)
    assert optimizer.theta.tolist() == [1.0] * 6 + [2.0] * 4
    ((first.sum() * 3) + (second * 5).sum()).backward()
    assert optimizer.gradient.tolist() == [3.0] * 6 + [5.0] * 4
    optimizer.theta.zero_()
    assert not first.any()
    optimizer.zero_gradient()
    assert not second.grad.any()


def test_a_long_gradient_is_clipped_to_the_norm_and_a_short_one_is_left() -> None:
    parameter = nn.Parameter(torch.zeros(2))
    optimizer = FlatNAdam([parameter], beta1=0.9, beta2=0.999, epsilon=1e-8)
    parameter.grad.copy_(torch.tensor([6.0, 8.0]))
    optimizer.clip(5.0)
    torch.testing.assert_close(parameter.grad, torch.tensor([3.0, 4.0]))
    optimizer.clip(50.0)
    torch.testing.assert_close(parameter.grad, torch.tensor([3.0, 4.0]))


def test_a_restored_optimizer_goes_on_as_if_nothing_had_happened() -> None:
    torch.manual_seed(0)
    gradients = torch.randn(6, 3)

    def fresh():
        parameter = nn.Parameter(torch.ones(3))
        return parameter, FlatNAdam([parameter], beta1=0.9, beta2=0.99, epsilon=1e-8)

    parameter, optimizer = fresh()
    for step, gradient in enumerate(gradients):
        if step == 3:
            state = {name: tensor.clone() for name, tensor in optimizer.state().items()}
        parameter.grad.copy_(gradient)
        optimizer.step(0.01)
    again, resumed = fresh()
    resumed.restore(state, steps=3)
    for gradient in gradients[3:]:
        again.grad.copy_(gradient)
        resumed.step(0.01)
    assert torch.equal(again, parameter)
