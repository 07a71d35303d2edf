"""The pieces of a training step, by pytest-benchmark.

python -m pytest benchmarks --benchmark-only
"""

import pytest
import torch
from torch.nn.functional import normalize

from tpr_rnn.bench.cases import single_task
from tpr_rnn.bench.run import OurStep
from tpr_rnn.data.babi.format import format_story, parse_stories
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.simulator import generate
from tpr_rnn.memory import Associations, native, parallel, sequential


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def case():
    return single_task("1", batches=1)


def said(batch: int, time: int, entity: int, relation: int) -> Associations:
    generator = torch.Generator().manual_seed(0)
    sizes = {"e1": entity, "e2": entity, "r1": relation, "r2": relation, "r3": relation}
    return Associations.of(
        **{
            name: normalize(torch.randn(batch, time, size, generator=generator), dim=2)
            for name, size in sizes.items()
        }
    )


@pytest.mark.parametrize("form", ["sequential", "parallel", "parallel without kernel"])
@pytest.mark.parametrize(
    ("batch", "time", "entity", "relation"),
    [(128, 10, 15, 10), (32, 20, 40, 20), (8, 200, 15, 10)],
    ids=["task-1", "all-tasks", "long"],
)
def test_memory_forward_and_backward(
    benchmark, monkeypatch, form, batch, time, entity, relation
) -> None:
    stories = said(batch, time, entity, relation)
    stories.table.requires_grad_()
    if form.endswith("without kernel"):
        monkeypatch.setattr(native, "usable", lambda tensor: False)
    update = sequential if form == "sequential" else parallel

    def work() -> None:
        changes, _ = update(stories)
        changes.sum().backward()

    benchmark(work)


def test_training_step(benchmark, case) -> None:
    step = OurStep(case.config)
    benchmark(step, case.batches[0])


def test_reading_stories(benchmark) -> None:
    lines = "".join(map(format_story, generate("1", questions=1_000)["train"])).split("\n")
    benchmark(parse_stories, lines, "stories")


def test_encoding_stories(benchmark) -> None:
    stories = generate("1", questions=1_000)["train"]
    vocabulary, words = build_vocabulary(stories), longest_sentence(stories)
    benchmark(encode, {1: stories}, vocabulary, words)
