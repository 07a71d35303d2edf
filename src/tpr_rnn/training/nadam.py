"""NAdam as TensorFlow defines it, on one flat buffer of all parameters."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn


class FlatNAdam:
    """Nesterov-accelerated Adam without a momentum schedule, with clipping by global norm.

        m     <- b1 m + (1 - b1) g              v <- b2 v + (1 - b2) g^2
        m_bar  = b1 m + (1 - b1) g
        theta <- theta - rate sqrt(1 - b2^t) / (1 - b1^t) m_bar / (sqrt(v) + epsilon)

    torch.optim.NAdam differs: it has a schedule of b1. All parameters, and all their gradients,
    become views of one flat tensor each, so that a step is a handful of vector operations.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], *, beta1: float, beta2: float, epsilon: float
    ) -> None:
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        parameters = list(parameters)
        self.theta = torch.cat([parameter.detach().flatten() for parameter in parameters])
        self.gradient = torch.zeros_like(self.theta)
        begin = 0
        for parameter in parameters:
            part = slice(begin, begin + parameter.numel())
            parameter.data = self.theta[part].view_as(parameter)
            parameter.grad = self.gradient[part].view_as(parameter)
            begin = part.stop
        self.m = torch.zeros_like(self.theta)
        self.v = torch.zeros_like(self.theta)
        # Room for what is computed on the way; to allocate it anew takes longer than to fill it.
        self._m_bar, self._root = torch.empty_like(self.theta), torch.empty_like(self.theta)
        self.steps = 0

    def zero_gradient(self) -> None:
        """Forget the last gradient."""
        self.gradient.zero_()

    @torch.no_grad()
    def clip(self, norm: float) -> None:
        """Shorten the gradient to `norm` if it is longer."""
        length = torch.linalg.vector_norm(self.gradient)
        self.gradient.mul_((norm / (length + 1e-12)).clamp(max=1.0))

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Change the parameters."""
        self.steps += 1
        g = self.gradient
        self.m.lerp_(g, 1 - self.beta1)
        self.v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
        torch.lerp(self.m, g, 1 - self.beta1, out=self._m_bar)
        torch.sqrt(self.v, out=self._root).add_(self.epsilon)
        rate *= (1 - self.beta2**self.steps) ** 0.5 / (1 - self.beta1**self.steps)
        self.theta.addcdiv_(self._m_bar, self._root, value=-rate)

    def state(self) -> dict[str, Float[Tensor, " p"]]:
        """What must be kept, besides the number of steps, to go on later."""
        return {"theta": self.theta, "m": self.m, "v": self.v}

    def restore(self, state: dict[str, Float[Tensor, " p"]], steps: int) -> None:
        """Go on from a saved state."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])
        self.steps = steps
