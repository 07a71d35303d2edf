"""NAdam against numbers worked out by hand; the others against torch's own."""

import math

import pytest
import torch
from torch import nn

from tpr_rnn.training.optimizers import OPTIMIZERS, FlatNAdam, FlatSGD


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
    optimizer = FlatSGD([parameter], momentum=0.0)
    parameter.grad.copy_(torch.tensor([6.0, 8.0]))
    optimizer.clip_norm(5.0)
    torch.testing.assert_close(parameter.grad, torch.tensor([3.0, 4.0]))
    optimizer.clip_norm(50.0)
    torch.testing.assert_close(parameter.grad, torch.tensor([3.0, 4.0]))


def test_the_gradient_of_each_parameter_is_clipped_by_itself() -> None:
    long, short = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1, 2))
    optimizer = FlatSGD([long, short], momentum=0.0)
    long.grad.copy_(torch.tensor([6.0, 8.0]))
    short.grad.copy_(torch.tensor([[0.0, 4.0]]))
    optimizer.clip_norm_each(5.0)
    torch.testing.assert_close(optimizer.gradient, torch.tensor([3.0, 4.0, 0.0, 4.0]))


def test_a_gradient_is_clipped_by_value_either_way() -> None:
    parameter = nn.Parameter(torch.zeros(3))
    optimizer = FlatSGD([parameter], momentum=0.0)
    parameter.grad.copy_(torch.tensor([6.0, -8.0, 0.5]))
    optimizer.clip_value(2.0)
    assert parameter.grad.tolist() == [2.0, -2.0, 0.5]


def test_parameters_without_gradient_are_left_alone() -> None:
    trained, frozen = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3), requires_grad=False)
    optimizer = FlatSGD([frozen, trained], momentum=0.0, weight_decay=0.5)
    optimizer.step(1.0)
    assert trained.tolist() == [0.5, 0.5]
    assert frozen.tolist() == [1.0, 1.0, 1.0]


SETTINGS = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, "momentum": 0.7}


def made(name: str, parameters: list[nn.Parameter], weight_decay: float = 0.0):
    kind = OPTIMIZERS[name]
    chosen = {setting: SETTINGS[setting] for setting in kind.settings}
    if weight_decay:
        chosen["weight_decay"] = weight_decay
    return kind(parameters, **chosen)


def torch_optimizer(name: str, parameters: list[nn.Parameter], weight_decay: float):
    if name == "sgd":
        return torch.optim.SGD(
            parameters, lr=1.0, momentum=SETTINGS["momentum"], weight_decay=weight_decay
        )
    if name == "rmsprop":
        return torch.optim.RMSprop(
            parameters,
            alpha=SETTINGS["beta2"],
            eps=SETTINGS["epsilon"],
            momentum=SETTINGS["momentum"],
            weight_decay=weight_decay,
        )
    return torch.optim.Adam(
        parameters,
        betas=(SETTINGS["beta1"], SETTINGS["beta2"]),
        eps=SETTINGS["epsilon"],
        weight_decay=weight_decay,
    )


def start() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    shapes = ((3, 2), (5,))
    return [
        nn.Parameter(torch.randn(shape, generator=generator, dtype=torch.float64))
        for shape in shapes
    ]


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("name", ["adam", "rmsprop", "sgd"])
def test_it_steps_as_torch_does(name, weight_decay) -> None:
    ours, theirs = start(), start()
    optimizer = made(name, ours, weight_decay)
    reference = torch_optimizer(name, theirs, weight_decay)
    for step in range(20):
        learning_rate = 0.1 / (1 + step)
        for parameters in (ours, theirs):
            loss = sum((parameter**4 - parameter).sum() for parameter in parameters)
            loss.backward()
        optimizer.step(learning_rate)
        for group in reference.param_groups:
            group["lr"] = learning_rate
        reference.step()
        for one, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)
        optimizer.zero_gradient()
        reference.zero_grad()


def test_weight_decay_of_nadam_adds_the_weights_to_the_gradient() -> None:
    (decayed, by_hand) = (nn.Parameter(torch.ones(3, dtype=torch.float64)) for _ in range(2))
    with_decay, plain = made("nadam", [decayed], weight_decay=0.3), made("nadam", [by_hand])
    for _ in range(5):
        with_decay.zero_gradient()
        by_hand.grad.copy_(0.3 * by_hand.detach())
        with_decay.step(0.1)
        plain.step(0.1)
    assert torch.equal(decayed, by_hand)
    assert (decayed < 0.9).all()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_its_state_is_all_that_is_needed_to_go_on(name) -> None:
    gradients = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))

    def follow(parameter, optimizer, part) -> None:
        for gradient in part:
            parameter.grad.copy_(gradient)
            optimizer.step(0.1)

    whole, first, second = (nn.Parameter(torch.ones(3)) for _ in range(3))
    follow(whole, made(name, [whole]), gradients)
    before = made(name, [first])
    follow(first, before, gradients[:2])
    after = made(name, [second])
    after.theta.copy_(before.theta)
    for key, tensor in after.state().items():
        tensor.copy_(before.state()[key])
    after.steps = before.steps
    follow(second, after, gradients[2:])
    assert torch.equal(second, whole)
