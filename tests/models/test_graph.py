"""The TPR-RNN as one graph: `torch.compile`, `torch.export` and autocast."""

import subprocess
import sys

import pytest
import torch

from tpr_rnn.bench.cases import single_task
from tpr_rnn.memory import native
from tpr_rnn.models import TPRRNN

# The packages are not under the shape checks of the tests in here, which cannot be traced.
SCRIPT = """
import sys
import torch
from torch.export import Dim
from torch.utils import _pytree as tree
from tpr_rnn.bench.cases import single_task
from tpr_rnn.models import TPRRNN

case = single_task("2", 2)
model = TPRRNN(case.config, generator=torch.Generator().manual_seed(0)).double()


def gradients(logits):
    return torch.autograd.grad(logits.square().sum(), list(model.parameters()))


def same(one, other):
    for each, expected in zip(one, other, strict=True):
        torch.testing.assert_close(each, expected)
"""
COMPILE = """
compiled = torch.compile(model, fullgraph=True, dynamic=True, backend=sys.argv[1])
for batch in case.batches:
    logits, expected = compiled(batch), model(batch)
    same([logits], [expected])
    same(gradients(logits), gradients(expected))
half = model.float()
compiled = torch.compile(half, fullgraph=True, dynamic=True, backend=sys.argv[1])
with torch.autocast("cpu", dtype=torch.bfloat16):
    torch.testing.assert_close(compiled(batch), half(batch), rtol=5e-2, atol=5e-2)
"""
EXPORT = """
model.eval()
leaves, layout = tree.tree_flatten(case.batches[0])
shapes = [{0: Dim.DYNAMIC} if isinstance(each, torch.Tensor) else None for each in leaves]
longest = next(i for i, each in enumerate(leaves) if each is case.batches[0].groups[0].story)
shapes[longest] = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
exported = torch.export.export(
    model, (case.batches[0],), dynamic_shapes=(tree.tree_unflatten(shapes, layout),)
).module()
first, second = (batch.groups[0].story.shape for batch in case.batches)
assert first != second
for batch in case.batches:
    same([exported(batch)], [model(batch)])
"""


def run(script: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + script, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_autocast_changes_little_and_gradients_come_back() -> None:
    case = single_task("1", 1)
    model = TPRRNN(case.config, generator=torch.Generator().manual_seed(0))
    (batch,) = case.batches
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(batch)
    torch.testing.assert_close(logits.float(), model(batch), rtol=5e-2, atol=5e-2)
    logits.float().square().sum().backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    assert all(each.dtype == torch.float32 and each.isfinite().all() for each in gradients)


@pytest.mark.slow
def test_it_compiles_to_one_graph_also_under_autocast() -> None:
    run(COMPILE, "inductor" if native.usable(torch.zeros(1)) else "aot_eager")


@pytest.mark.slow
def test_it_is_exported_for_any_number_of_stories_sentences_and_questions() -> None:
    run(EXPORT)
