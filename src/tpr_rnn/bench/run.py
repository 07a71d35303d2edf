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

from tpr_rnn.bench.cases import Case, all_tasks, single_task, story_for_each_question
from tpr_rnn.bench.layer import measure_layer
from tpr_rnn.bench.measure import milliseconds, peak_bytes, peak_gflops
from tpr_rnn.bench.released import ReleasedStep, without_sharing
from tpr_rnn.bench.systems import measure_systems
from tpr_rnn.data.babi.directory import file_name
from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.batches import Batch, evaluation_batches
from tpr_rnn.data.corpus import load_corpus
from tpr_rnn.data.dataset import ALL
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.registry import BUILT_IN
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.evaluation.provenance import versions
from tpr_rnn.memory import Associations, native, parallel, read
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.reader import Reader
from tpr_rnn.pretrained import load_pretrained
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
    """Measure everything, or with `quick` the fast parts; `say` is called with what comes next."""
    cores = os.cpu_count() or 1
    record = _head(f"tpr-rnn bench{' --quick' if quick else ''}") | {"cases": []}
    say("generating stories")
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
    say("scoring with the bundled model")
    record["scoring"] = _measure_scoring(quick)
    say("one question about a story of 20 sentences")
    record["answer_ms"] = _measure_answer()
    if not quick:
        say("two runs side by side")
        record["side_by_side"] = _measure_side_by_side()
        say("reading and encoding all tasks")
        record["loading"] = _measure_loading()
    return record


def measure_layer_alone(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure the layer (see `bench.layer`)."""
    head = _head(f"tpr-rnn bench --layer{' --quick' if quick else ''}")
    return head | measure_layer(quick, say)


def measure_systems_alone(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure every system of the registry (see `bench.systems`)."""
    head = _head(f"tpr-rnn bench --systems{' --quick' if quick else ''}")
    return head | measure_systems(quick, say)


def _head(command: str) -> dict[str, Any]:
    return {
        "command": command,
        "machine": {"cpu": _cpu_name(), "cores": os.cpu_count() or 1},
        "versions": versions(),
        "memory": native.status(),
    }


def _measure_case(case: Case, threads: int, peak: float, quick: bool) -> dict[str, Any]:
    ours, baseline = OurStep(case.config), ReleasedStep(case.config)
    plain = [without_sharing(batch) for batch in case.by_question]

    def work(step: Callable[[Batch], float], batches: list[Batch]) -> Callable[[], None]:
        def run() -> None:
            for batch in batches:
                step(batch)

        return run

    works = [work(baseline, plain), work(ours, case.by_question), work(ours, case.batches)]
    baseline_ms, question_ms, ours_ms = milliseconds(works, 1.0 if quick else 8.0)
    steps = len(case.batches)
    longest = max(range(steps), key=lambda i: plain[i].groups[0].story.shape[1])
    baseline_peak = peak_bytes(lambda: baseline(plain[longest]))
    ours_peak = peak_bytes(lambda: ours(case.by_question[longest]))
    gflop = sum(map(_flop, [case.config] * steps, case.batches)) / steps / 1e9
    rate = _questions_a_second(case.batches, ours_ms)
    baseline_rate = _questions_a_second(plain, baseline_ms)
    return {
        "name": case.name,
        "threads": threads,
        "batch": len(case.batches[0].answer),
        "questions_per_second": round(rate, 1),
        "baseline_questions_per_second": round(baseline_rate, 1),
        "speedup": round(rate / baseline_rate, 2),
        # One story a question, as all steps were before stories were read once.
        "by_question": {
            "batch": len(plain[0].answer),
            "baseline_ms": round(baseline_ms / steps, 3),
            "ours_ms": round(question_ms / steps, 3),
            "speedup": round(baseline_ms / question_ms, 2),
        },
        "ours_ms": round(ours_ms / steps, 3),
        "baseline_peak_mb": round(baseline_peak / 1e6, 2),
        "ours_peak_mb": round(ours_peak / 1e6, 2),
        "memory_ratio": round(baseline_peak / ours_peak, 2),
        "form": f"parallel, {native.status()}",
        "gflop": round(gflop, 4),
        "gflops": round(1000 * gflop * steps / ours_ms, 4),
        "machine_gflops": round(peak, 1),
        "share_of_peak": round(1000 * gflop * steps / ours_ms / peak, 6),
    }


def _questions_a_second(batches: list[Batch], ms: float) -> float:
    return 1000 * sum(len(batch.answer) for batch in batches) / ms


def _flop(config: TPRRNNConfig, batch: Batch) -> float:
    """Floating-point operations that a training step needs: forward and backward."""
    v, e, r = config.vocabulary_size, config.entity_size, config.relation_size
    h, steps = config.hidden_size or v, config.inference_steps
    sentence = config.max_words * v + v * 5 * h + h * (2 * e + 3 * r)
    question = config.max_words * v + v * (1 + steps) * h + h * (e + steps * r)
    networks = len(batch.sentences) * sentence + len(batch.questions) * question
    (group,) = batch.groups
    lengths, seen = group.lengths.tolist(), int(group.position.sum())
    # 4.5 T^2 pairs of rows are compared and added up; see docs/memory.md for the backward pass.
    solve = sum(4.5 * t * t * (7 * e + 4 * r) for t in lengths)
    reads = 3 * steps * 3 * seen * (2 * e + r)
    output = 3 * len(batch.answer) * e * v
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


def _measure_scoring(quick: bool) -> dict[str, Any]:
    """Seconds to score the bundled model: each story read once, or again for each question.

    A story for each question is how evaluation was before, in batches of 512.
    """
    reader = load_pretrained()
    questions = 500 if quick else 10_000  # of which a tenth is for testing
    stories = {task: generate(task, questions=questions)["test"] for task in TASK_TITLES}
    caps = BUILT_IN.max_sentences(stories)
    data = encode(stories, reader.vocabulary, reader.model.config.max_words, caps)
    batches = list(evaluation_batches(data))
    separate = list(map(story_for_each_question, evaluation_batches(data, size=512)))

    @torch.no_grad()
    def run(batches: list[Batch]) -> None:
        for batch in batches:
            reader.model(batch)

    works = [lambda: run(separate), lambda: run(batches)]
    by_question, by_story = milliseconds(works, 0.5 if quick else 5.0)
    return {
        "questions": len(data),
        "by_question_seconds": round(by_question / 1000, 4),
        "seconds": round(by_story / 1000, 4),
        "ratio": round(by_story / by_question, 3),
    }


def _measure_answer() -> float:
    stories = generate("1", questions=1_000)["train"]
    vocabulary, words = build_vocabulary(stories), longest_sentence(stories)
    config = TPRRNNConfig(vocabulary_size=len(vocabulary), max_words=words)
    reader = Reader(TPRRNN(config).eval(), vocabulary)
    story = [sentence for each in stories for sentence in each.sentences][:20]
    question = stories[0].questions[0].text
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
                path = Path(directory) / file_name(task, split)
                path.write_text("".join(map(format_story, stories)), encoding="utf-8")
        start = time.perf_counter()
        corpus = load_corpus(Path(directory), ALL)
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
