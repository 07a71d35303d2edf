"""All measurements, one after the other, as one record."""

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy, normalize

from tpr_rnn.bench.cases import Case, all_tasks, single_task
from tpr_rnn.bench.measure import milliseconds, peak_bytes, peak_gflops
from tpr_rnn.bench.released import ReleasedStep, without_sharing
from tpr_rnn.data.batches import Batch
from tpr_rnn.data.corpus import load_corpus
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.data.story import format_story
from tpr_rnn.evaluation.provenance import versions
from tpr_rnn.memory import Associations, native, parallel, read
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.reader import Reader
from tpr_rnn.training.optimizers import FlatNAdam

LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 10_000)


class OurStep:
    """A model, an optimizer, and full training steps with them."""

    def __init__(self, config: TPRRNNConfig, seed: int = 0) -> None:
        self.model = TPRRNN(config, generator=torch.Generator().manual_seed(seed))
        parameters = self.model.parameters()
        self.optimizer = FlatNAdam(parameters, beta1=0.9, beta2=0.999, epsilon=1e-8)

    def __call__(self, batch: Batch) -> float:
        """Forward, backward, clip, optimizer."""
        self.optimizer.zero_gradient()
        loss = cross_entropy(self.model(batch), batch.answer)
        loss.backward()
        self.optimizer.clip_norm(5.0)
        self.optimizer.step(1e-3)
        return float(loss.detach())


def measure_all(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything; `say` is told what comes next. `quick` leaves out the slow parts."""
    cores = os.cpu_count() or 1
    record: dict[str, Any] = {
        "command": f"tpr-rnn bench{' --quick' if quick else ''}",
        "machine": {"cpu": _cpu_name(), "cores": cores},
        "versions": versions(),
        "memory": native.status(),
        "cases": [],
    }
    say("telling stories")
    batches = 2 if quick else 6
    cases = [*(single_task(task, batches) for task in ("1", "2", "3")), all_tasks(batches)]
    for threads in sorted({1, cores}):
        torch.set_num_threads(threads)
        peak = peak_gflops()
        for case in cases:
            say(f"{case.name}, {threads} thread(s)")
            record["cases"].append(_measure_case(case, threads, peak, quick))
    torch.set_num_threads(1)
    say("growth with the length of a story")
    record["growth"] = _measure_growth(quick)
    say("one question about a story of 20 sentences")
    record["answer_ms"] = _measure_answer()
    if not quick:
        say("two runs side by side")
        record["side_by_side"] = _measure_side_by_side()
        say("reading and encoding all 20 tasks")
        record["loading"] = _measure_loading()
    return record


def _measure_case(case: Case, threads: int, peak: float, quick: bool) -> dict[str, Any]:
    ours, baseline = OurStep(case.config), ReleasedStep(case.config)
    plain = [without_sharing(batch) for batch in case.batches]

    def run_ours() -> None:
        for batch in case.batches:
            ours(batch)

    def run_baseline() -> None:
        for batch in plain:
            baseline(batch)

    seconds = 1.0 if quick else 8.0
    baseline_ms, ours_ms = milliseconds([run_baseline, run_ours], seconds)
    steps = len(case.batches)
    longest = max(range(steps), key=lambda i: max(case.sentences()[i]))
    baseline_peak = peak_bytes(lambda: baseline(plain[longest]))
    ours_peak = peak_bytes(lambda: ours(case.batches[longest]))
    gflop = sum(map(_flop, [case.config] * steps, case.batches)) / steps / 1e9
    return {
        "name": case.name,
        "threads": threads,
        "baseline_ms": round(baseline_ms / steps, 3),
        "ours_ms": round(ours_ms / steps, 3),
        "speedup": round(baseline_ms / ours_ms, 2),
        "baseline_peak_mb": round(baseline_peak / 1e6, 2),
        "ours_peak_mb": round(ours_peak / 1e6, 2),
        "memory_ratio": round(baseline_peak / ours_peak, 2),
        "form": f"parallel, {native.status()}",
        "gflop": round(gflop, 4),
        "gflops": round(1000 * gflop * steps / ours_ms, 4),
        "machine_gflops": round(peak, 1),
        "share_of_peak": round(1000 * gflop * steps / ours_ms / peak, 6),
    }


def _flop(config: TPRRNNConfig, batch: Batch) -> float:
    """Operations that the mathematics of a training step needs: forward and backward."""
    v, e, r = config.vocabulary_size, config.entity_size, config.relation_size
    h, steps = config.hidden_size or v, config.inference_steps
    sentence = config.max_words * v + v * 5 * h + h * (2 * e + 3 * r)
    question = config.max_words * v + v * (1 + steps) * h + h * (e + steps * r)
    networks = len(batch.sentences) * sentence + len(batch.questions) * question
    told = batch.groups[0].lengths.tolist()
    # 4.5 T^2 pairs of rows are compared and added up; see docs/memory.md for the backward pass.
    solve = sum(4.5 * t * t * (7 * e + 4 * r) for t in told)
    reads = 3 * steps * sum(3 * t * (2 * e + r) for t in told)
    output = 3 * len(told) * e * v
    return float(2 * (3 * networks + solve + reads + output))


def _measure_growth(quick: bool) -> dict[str, Any]:
    """Forward and backward through one story, from 10 to 10,000 sentences."""
    entity, relation = 15, 10
    taken = []
    for length in LENGTHS:
        generator = torch.Generator().manual_seed(length)
        sizes = {"e1": entity, "e2": entity, "r1": relation, "r2": relation, "r3": relation}
        vectors = {
            name: normalize(torch.randn(1, length, size, generator=generator), dim=2)
            for name, size in sizes.items()
        }
        said = Associations.of(**vectors)
        said.table.requires_grad_()
        probe = (
            torch.randn(1, entity, generator=generator),
            torch.randn(1, relation, generator=generator),
        )

        def work(said: Associations = said, probe: tuple[Any, ...] = probe) -> None:
            _, memory = parallel(said)
            read(memory, *probe).sum().backward()

        (ms,) = milliseconds([work], 0.5 if quick else 3.0)
        taken.append(ms / length)
    return {
        "lengths": list(LENGTHS),
        "ms_per_sentence": [round(ms, 6) for ms in taken],
        "ratio": round(taken[LENGTHS.index(10_000)] / taken[LENGTHS.index(100)], 3),
        "sizes": {"batch": 1, "entity": entity, "relation": relation},
    }


def _measure_answer() -> float:
    told = generate("1", questions=1_000)["train"]
    vocabulary, words = build_vocabulary(told), longest_sentence(told)
    config = TPRRNNConfig(vocabulary_size=len(vocabulary), max_words=words)
    reader = Reader(TPRRNN(config).eval(), vocabulary)
    story = [sentence for each in told for sentence in each.sentences][:20]
    question = told[0].questions[0].text
    (ms,) = milliseconds([lambda: reader.answer(story, question)], 1.0)
    return round(ms, 3)


# One process of `_measure_side_by_side`: it waits for a line, then counts steps for a while.
_WORKER = """
import sys, time, torch
from tpr_rnn.bench.cases import single_task
from tpr_rnn.bench.run import OurStep
torch.set_num_threads(1)
case = single_task("1", 4)
step = OurStep(case.config)
for batch in case.batches: step(batch)
print("ready", flush=True)
sys.stdin.readline()
end, steps = time.monotonic() + 5.0, 0
while time.monotonic() < end:
    for batch in case.batches: step(batch)
    steps += len(case.batches)
print(steps, flush=True)
"""


def _measure_side_by_side() -> dict[str, float]:
    """Training steps in five seconds: of one process, and of two at the same time."""
    one, two = _count_steps(1), _count_steps(2)
    return {"one": one, "two": two, "ratio": round(two / one, 3)}


def _count_steps(processes: int) -> int:
    pipe = subprocess.PIPE
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER], stdin=pipe, stdout=pipe, text=True)
        for _ in range(processes)
    ]
    for worker in workers:
        if worker.stdin is None or worker.stdout is None or not worker.stdout.readline():
            raise RuntimeError("a process of the benchmark did not start")
    for worker in workers:
        if worker.stdin is not None:
            worker.stdin.write("go\n")
            worker.stdin.flush()
    return sum(int(worker.communicate()[0]) for worker in workers)


def _measure_loading() -> dict[str, float]:
    """Read and encode 200,000 questions of all tasks, from files, on one core."""
    with tempfile.TemporaryDirectory() as directory:
        for task in TASK_TITLES:
            for split, stories in generate(task).items():
                path = Path(directory) / f"qa{task}_{split}.txt"
                path.write_text("".join(map(format_story, stories)), encoding="utf-8")
        start = time.perf_counter()
        corpus = load_corpus(Path(directory), None)
        vocabulary = build_vocabulary(corpus.all_stories())
        words = longest_sentence(corpus.all_stories())
        encoded = [encode(corpus.split(split), vocabulary, words) for split in ("train", "valid")]
        taken = time.perf_counter() - start
    return {"questions": sum(map(len, encoded)), "seconds": round(taken, 2)}


def _cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
