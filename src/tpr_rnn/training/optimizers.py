"""Optimizers by name, each on one flat buffer of all parameters."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn


class FlatOptimizer(ABC):
    """Changes the parameters by their gradients.

    All parameters, and all their gradients, become views of one flat tensor each, so that a step
    is a handful of vector operations. Parameters that need no gradient are left alone.
    """

    settings: ClassVar[tuple[str, ...]]
    """The settings of a recipe that it takes, besides the learning rate and `weight_decay`."""

    def __init__(self, parameters: Iterable[nn.Parameter], *, weight_decay: float = 0.0) -> None:
        self.weight_decay = weight_decay
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        self.theta = torch.cat([parameter.detach().flatten() for parameter in trained])
        self.gradient = torch.zeros_like(self.theta)
        self._sizes = [parameter.numel() for parameter in trained]
        views = zip(self._parts(self.theta), self._parts(self.gradient), strict=True)
        for parameter, (theta, gradient) in zip(trained, views, strict=True):
            parameter.data = theta.view_as(parameter)
            parameter.grad = gradient.view_as(parameter)
        self.steps = 0

    def _parts(self, flat: Float[Tensor, " p"]) -> list[Tensor]:
        """A flat buffer by parameter."""
        return list(flat.split(self._sizes))

    @abstractmethod
    def state(self) -> dict[str, Float[Tensor, " p"]]:
        """What must be kept, besides the parameters and the number of steps, to go on later."""

    @abstractmethod
    def _update(self, learning_rate: float) -> None:
        """Change `theta` by `gradient`; `steps` counts this step already."""

    def zero_gradient(self) -> None:
        """Forget the last gradient."""
        self.gradient.zero_()

    @torch.no_grad()
    def clip_value(self, largest: float) -> None:
        """Bring every entry of the gradient into +- `largest`."""
        self.gradient.clamp_(-largest, largest)

    @torch.no_grad()
    def clip_norm(self, largest: float) -> None:
        """Shorten the gradient to the norm `largest` if it is longer."""
        _shorten(self.gradient, largest)

    @torch.no_grad()
    def clip_norm_each(self, largest: float) -> None:
        """Shorten the gradient of each parameter by itself to the norm `largest`."""
        for gradient in self._parts(self.gradient):
            _shorten(gradient, largest)

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Change the parameters."""
        self.steps += 1
        if self.weight_decay:
            self.gradient.add_(self.theta, alpha=self.weight_decay)
        self._update(learning_rate)


class FlatAdam(FlatOptimizer):
    """Adam, as torch.optim.Adam.

    m <- b1 m + (1 - b1) g          v <- b2 v + (1 - b2) g^2
    theta <- theta - rate / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + epsilon)
    """

    settings = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        beta1: float,
        beta2: float,
        epsilon: float,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, weight_decay=weight_decay)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.m = torch.zeros_like(self.theta)
        self.v = torch.zeros_like(self.theta)
        # Room for what is computed on the way; to allocate it anew takes longer than to fill it.
        self._root = torch.empty_like(self.theta)

    def _update(self, learning_rate: float) -> None:
        self._update_moments()
        torch.sqrt(self.v, out=self._root).div_((1 - self.beta2**self.steps) ** 0.5)
        rate = learning_rate / (1 - self.beta1**self.steps)
        self.theta.addcdiv_(self.m, self._root.add_(self.epsilon), value=-rate)

    def _update_moments(self) -> None:
        g = self.gradient
        self.m.lerp_(g, 1 - self.beta1)
        self.v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)

    def state(self) -> dict[str, Float[Tensor, " p"]]:
        """The means of the gradient and of its square."""
        return {"m": self.m, "v": self.v}


class FlatNAdam(FlatAdam):
    """Nesterov-accelerated Adam as TensorFlow defines it, without a momentum schedule.

    m and v as Adam's          m_bar = b1 m + (1 - b1) g
    theta <- theta - rate sqrt(1 - b2^t) / (1 - b1^t) m_bar / (sqrt(v) + epsilon)

    torch.optim.NAdam differs: it has a schedule of b1.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        beta1: float,
        beta2: float,
        epsilon: float,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(
            parameters, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay
        )
        self._m_bar = torch.empty_like(self.theta)

    def _update(self, learning_rate: float) -> None:
        self._update_moments()
        torch.lerp(self.m, self.gradient, 1 - self.beta1, out=self._m_bar)
        torch.sqrt(self.v, out=self._root).add_(self.epsilon)
        rate = learning_rate * ((1 - self.beta2**self.steps) ** 0.5 / (1 - self.beta1**self.steps))
        self.theta.addcdiv_(self._m_bar, self._root, value=-rate)


class FlatRMSprop(FlatOptimizer):
    """RMSprop with momentum, as torch.optim.RMSprop.

    v <- b2 v + (1 - b2) g^2        u <- momentum u + g / (sqrt(v) + epsilon)
    theta <- theta - rate u
    """

    settings = ("beta2", "epsilon", "momentum")

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        beta2: float,
        epsilon: float,
        momentum: float,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, weight_decay=weight_decay)
        self.beta2, self.epsilon, self.momentum = beta2, epsilon, momentum
        self.v = torch.zeros_like(self.theta)
        self.u = torch.zeros_like(self.theta)
        self._root = torch.empty_like(self.theta)

    def _update(self, learning_rate: float) -> None:
        g = self.gradient
        self.v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
        torch.sqrt(self.v, out=self._root).add_(self.epsilon)
        self.u.mul_(self.momentum).addcdiv_(g, self._root)
        self.theta.add_(self.u, alpha=-learning_rate)

    def state(self) -> dict[str, Float[Tensor, " p"]]:
        """The mean of the squared gradient, and the velocity."""
        return {"v": self.v, "u": self.u}


class FlatSGD(FlatOptimizer):
    """Stochastic gradient descent with momentum, as torch.optim.SGD.

    u <- momentum u + g        theta <- theta - rate u
    """

    settings = ("momentum",)

    def __init__(
        self, parameters: Iterable[nn.Parameter], *, momentum: float, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, weight_decay=weight_decay)
        self.momentum = momentum
        self.u = torch.zeros_like(self.theta)

    def _update(self, learning_rate: float) -> None:
        self.u.mul_(self.momentum).add_(self.gradient)
        self.theta.add_(self.u, alpha=-learning_rate)

    def state(self) -> dict[str, Float[Tensor, " p"]]:
        """The velocity."""
        return {"u": self.u}


def _shorten(vector: Float[Tensor, " p"], largest: float) -> None:
    """Scale a vector to the norm `largest` if it is longer."""
    norm = torch.linalg.vector_norm(vector)
    vector.mul_((largest / (norm + 1e-12)).clamp(max=1.0))


OPTIMIZERS: Mapping[str, type[FlatOptimizer]] = MappingProxyType(
    {"nadam": FlatNAdam, "adam": FlatAdam, "rmsprop": FlatRMSprop, "sgd": FlatSGD}
)
