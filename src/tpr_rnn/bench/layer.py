"""The layer against its step-by-step form, an LSTM and a second-order delta rule, side by side."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from tpr_rnn.bench.measure import milliseconds
from tpr_rnn.memory import DenseMemory, sequential
from tpr_rnn.nn import TPRMemory
from tpr_rnn.nn.delta_rule import DeltaRule

INPUT = 64
STEPS, BATCH = 1_024, 8
ENTITY, RELATION, HOPS = 32, 16, 3
LSTM_UNITS = 256
DELTA_KEY, DELTA_HEADS = 64, 4
"""4 matrices of 64 x 64 are as many numbers as a memory of 32 x 16 x 32."""
LENGTHS = (1_000, 3_000, 10_000, 30_000, 100_000)


def measure_layer(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure training steps, growth with the length, and a stream of single steps.

    With `quick` the step-by-step form is measured on an eighth of the steps, each of which costs it
    the same, and sequences go up to 10,000 steps.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = TPRMemory(INPUT, entity_size=ENTITY, relation_size=RELATION, hops=HOPS)
    layers: dict[str, nn.Module] = {
        "layer": layer,
        "lstm": nn.LSTM(INPUT, LSTM_UNITS, batch_first=True),
        "delta_rule": DeltaRule(
            INPUT,
            key_size=DELTA_KEY,
            value_size=DELTA_KEY,
            heads=DELTA_HEADS,
            output_size=INPUT,
        ),
    }
    say(f"{STEPS:,} steps, batch {BATCH}, forward and backward")
    x = torch.randn(BATCH, STEPS, INPUT)
    few = STEPS // 8 if quick else STEPS
    works = [_training(each, x) for each in layers.values()]
    works.append(_training(StepByStep(layer), x[:, :few]))
    taken = milliseconds(works, 1.0 if quick else 30.0)
    taken[-1] *= STEPS / few
    microseconds = dict(zip([*layers, "step_by_step"], _each(taken, BATCH * STEPS), strict=True))
    say("growth with the number of steps")
    lengths = [length for length in LENGTHS if length <= 10_000 or not quick]
    growth = [
        _each(milliseconds([_training(layer, torch.randn(1, length, INPUT))], 0.0), length)
        for length in lengths
    ]
    say("a stream of single steps")
    return {
        "sizes": {
            "batch": BATCH,
            "steps": STEPS,
            "input": INPUT,
            "entity": ENTITY,
            "relation": RELATION,
            "hops": HOPS,
            "lstm_units": LSTM_UNITS,
            "delta_rule": [DELTA_HEADS, DELTA_KEY, DELTA_KEY],
        },
        "step_by_step_steps": few,
        "microseconds": microseconds,
        "parameters": {name: _parameters(each) for name, each in layers.items()},
        "against": {
            name: round(microseconds[name] / microseconds["layer"], 2)
            for name in microseconds
            if name != "layer"
        },
        "growth": {
            "lengths": lengths,
            "microseconds": [each for (each,) in growth],
            "ratio": round(growth[-1][0] / growth[0][0], 3),
        },
        "stream_ms": round(_stream(layer, quick), 4),
    }


class StepByStep(nn.Module):
    """The layer with the oracle, `sequential`, in place of the parallel memory."""

    def __init__(self, layer: TPRMemory) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """For one head, without a state before."""
        told = self.layer.tell(x)
        _, memory, found = sequential(
            told.associations,
            operations=self.layer.operations,
            state=DenseMemory(self.layer.empty_state(len(x)).tensor.flatten(0, 1)),
            queries=told.queries,
        )
        return self.layer.output(found.view(*x.shape[:2], -1)), memory.tensor


def _training(layer: nn.Module, x: Tensor) -> Callable[[], None]:
    def work() -> None:
        y, _ = layer(x)
        y.sum().backward()
        layer.zero_grad()

    return work


def _stream(layer: TPRMemory, quick: bool) -> float:
    """Milliseconds of one step after the other, each with the state of the last."""
    steps, x = 200, torch.randn(1, 1, INPUT)
    state = layer.empty_state(1)

    @torch.no_grad()
    def work() -> None:
        nonlocal state
        for _ in range(steps):
            _, state = layer(x, state)

    (ms,) = milliseconds([work], 0.5 if quick else 5.0)
    return ms / steps


def _each(milliseconds: Sequence[float], count: int) -> list[float]:
    """Microseconds of each of so many steps."""
    return [round(1000 * ms / count, 3) for ms in milliseconds]


def _parameters(layer: nn.Module) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())
