"""The benchmark measures what it says: the same mathematics on both sides."""

import json
from dataclasses import replace

import pytest
import torch

from cli.command import run
from tpr_rnn.bench import layer as bench_layer
from tpr_rnn.bench import measure, systems
from tpr_rnn.bench import run as bench_run
from tpr_rnn.bench.cases import single_task, story_for_each_question
from tpr_rnn.bench.measure import milliseconds, peak_bytes
from tpr_rnn.bench.released import released_memory, without_sharing
from tpr_rnn.cli import bench as cli_bench
from tpr_rnn.memory import Associations, densify, sequential
from tpr_rnn.models import TPRRNN
from tpr_rnn.models.registry import ARCHITECTURES
from tpr_rnn.nn import TPRMemory
from tpr_rnn.training.presets import PRESETS
from tpr_rnn.training.recipe import Recipe


@pytest.fixture(scope="module")
def case():
    return single_task("1", batches=1)


def test_the_baseline_is_the_memory_of_the_paper() -> None:
    table = torch.randn(12, 2 * 4 + 3 * 3, dtype=torch.float64, requires_grad=True)
    story = torch.randint(0, 12, (3, 6))
    lengths = torch.tensor([6, 2, 0])
    results = []
    for form in (sequential, released_memory):
        changes, memory, *_ = form(Associations(table / 2, story, 4), lengths=lengths)
        tensor = densify(memory).tensor
        (gradient,) = torch.autograd.grad((tensor**2).sum() + changes.sum(), table)
        results.append((changes, tensor, gradient))
    for expected, actual in zip(*results, strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-12)


def test_both_sides_answer_the_same_questions(case) -> None:
    (batch,) = case.batches
    plain = without_sharing(story_for_each_question(batch))
    (group,), (own,) = batch.groups, plain.groups
    assert len(own.story) == len(batch.answer) > len(group.story)  # it reads for each question
    assert len(plain.sentences) == own.story.numel() > len(batch.sentences)
    models = [
        TPRRNN(case.config, generator=torch.Generator().manual_seed(0), **form).double()
        for form in ({}, {"memory_form": released_memory})
    ]
    torch.testing.assert_close(models[0](batch), models[1](plain), rtol=1e-9, atol=1e-9)


def test_a_case_reports_times_memory_and_ratios(case) -> None:
    result = bench_run._measure_case(case, threads=1, peak=10.0, quick=True)
    assert result["name"] == "task-1"
    rates = result["questions_per_second"], result["baseline_questions_per_second"]
    assert result["speedup"] == pytest.approx(rates[0] / rates[1], rel=0.02)
    assert rates[0] == pytest.approx(1000 * result["batch"] / result["ours_ms"], rel=0.02)
    before = result["by_question"]
    assert before["speedup"] == pytest.approx(before["baseline_ms"] / before["ours_ms"], rel=0.02)
    assert result["memory_ratio"] > 1
    assert 0 < result["share_of_peak"] == pytest.approx(result["gflops"] / 10, rel=0.02)


def test_scoring_is_measured_both_ways() -> None:
    scoring = bench_run._measure_scoring(quick=True)
    assert scoring["questions"] > 400
    ratio = scoring["seconds"] / scoring["by_question_seconds"]
    assert scoring["ratio"] == pytest.approx(ratio, rel=0.02)


def test_growth_is_reported_for_every_length(monkeypatch) -> None:
    monkeypatch.setattr(bench_run, "LENGTHS", (100, 10_000))
    growth = bench_run._measure_growth(quick=True)
    assert growth["lengths"] == [100, 10_000]
    first, last = growth["ms_per_sentence"]
    assert growth["ratio"] == pytest.approx(last / first, rel=0.02)
    json.dumps(growth)


GROWTH = {
    "bench.json": ({"ms_per_sentence": [0.03, 0.01]}, {"bench.json", "growth.png"}),
    "layer.json": ({"microseconds": [30.0, 25.0]}, {"layer.json", "layer-growth.png"}),
    "systems.json": (None, {"systems.json"}),
}


@pytest.mark.parametrize("name", GROWTH)
def test_records_and_pictures_of_each_measurement_have_names_of_their_own(
    monkeypatch, tmp_path, name
) -> None:
    growth, files = GROWTH[name]
    record = {} if growth is None else {"growth": {"lengths": [100, 10_000], **growth}}
    for function in ("measure_all", "measure_layer_alone", "measure_systems_alone"):
        monkeypatch.setattr(bench_run, function, lambda quick, say: record)
    for show in ("_show", "_show_layer", "_show_systems"):
        monkeypatch.setattr(cli_bench, show, lambda record, console: None)
    flags = {"layer.json": ["--layer"], "systems.json": ["--systems"]}.get(name, [])
    assert run("bench", "--out", str(tmp_path), *flags).returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == files


def test_the_rate_of_a_system_is_measured_beyond_the_end_of_its_recipe(monkeypatch) -> None:
    monkeypatch.setattr(systems, "WORKS", {"task-1": ["1"]})
    monkeypatch.setattr(systems, "presets_for", lambda work: ["single"])
    short = Recipe(epochs=1, stop_after_zero_error=1, patience=1)
    monkeypatch.setattr(systems, "PRESETS", {"single": replace(PRESETS["single"], recipe=short)})
    record = systems.measure_systems(quick=True, say=lambda text: None)["systems"]
    assert record[0]["questions_per_second"] > 0


def test_peak_memory_is_that_of_the_largest_moment() -> None:
    def work() -> None:
        first = torch.zeros(1_000_000)
        second = first + 1
        del first, second
        torch.zeros(500_000)

    assert peak_bytes(work) == pytest.approx(8_000_000, rel=0.01)


def test_works_take_turns_and_a_quick_one_is_repeated(monkeypatch) -> None:
    clock = 0.0
    calls: list[str] = []

    def work(name: str, seconds: float) -> None:
        nonlocal clock
        clock += seconds
        calls.append(name)

    monkeypatch.setattr(measure.time, "perf_counter", lambda: clock)
    slow, quick = milliseconds([lambda: work("slow", 1.0), lambda: work("quick", 0.04)], 3.0)
    assert (slow, quick) == (pytest.approx(1000), pytest.approx(40))
    # A first look at each, then rounds of one slow and two quick ones.
    assert calls == ["slow", "quick"] + 3 * ["slow", "quick", "quick"]


def test_the_layer_is_measured_against_its_step_by_step_form(monkeypatch) -> None:
    monkeypatch.setattr(bench_layer, "STEPS", 16)
    monkeypatch.setattr(bench_layer, "BATCH", 2)
    monkeypatch.setattr(bench_layer, "LENGTHS", (20, 40))
    record = bench_layer.measure_layer(quick=True, say=lambda _: None)
    assert set(record["microseconds"]) == {"layer", "lstm", "delta_rule", "step_by_step"}
    times = record["microseconds"]
    assert record["against"]["lstm"] == pytest.approx(times["lstm"] / times["layer"], rel=0.05)
    assert record["growth"]["lengths"] == [20, 40]
    assert record["stream_ms"] > 0
    json.dumps(record)


def test_the_step_by_step_layer_is_the_layer() -> None:
    layer = TPRMemory(4, entity_size=5, relation_size=3).double()
    x = torch.randn(2, 6, 4).double()
    y, state = bench_layer.StepByStep(layer)(x)
    expected, after = layer(x)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(state, after.tensor.flatten(0, 1))


@pytest.mark.parametrize("work", systems.WORKS)
def test_every_system_is_measured_on_everything(work) -> None:
    presets = list(systems.presets_for(work))
    assert {PRESETS[name].architecture for name in presets} == set(ARCHITECTURES)
    assert ("single" in presets) == (work != "all-tasks")


def test_the_rate_counts_questions_of_steps_alone(monkeypatch) -> None:
    monkeypatch.setattr(systems, "WORKS", {"task-1": ["1"]})
    monkeypatch.setattr(systems, "presets_for", lambda work: ["lstm", "dnc-small-all"])
    record = systems.measure_systems(quick=True, say=lambda text: None)["systems"]
    assert [each["system"] for each in record] == ["LSTM", "DNC"]
    assert all(each["questions_per_second"] > 0 for each in record)
