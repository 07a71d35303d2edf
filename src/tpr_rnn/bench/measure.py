"""Measuring time, memory and the speed of the machine."""

import statistics
import time
from collections.abc import Callable, Sequence

import torch
from torch.profiler import ProfilerActivity, profile

Work = Callable[[], object]
TURN_SECONDS = 0.1


def milliseconds(works: Sequence[Work], seconds: float) -> list[float]:
    """The time of each function: the median of rounds in which all take turns.

    Taking turns, they meet the same moods of the machine. A turn lasts a while, so that a quick
    work is not measured with the caches that a slow one has left; the first round is not counted.
    """
    repeats = [max(1, int(TURN_SECONDS / (_seconds(work) or 1e-9))) for work in works]
    times: list[list[float]] = [[] for _ in works]
    begun = time.perf_counter()
    while len(times[0]) < 3 or time.perf_counter() - begun < seconds:
        for work, repeat, taken in zip(works, repeats, times, strict=True):
            taken.append(1000 * sum(_seconds(work) for _ in range(repeat)) / repeat)
    return [statistics.median(taken) for taken in times]


def _seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_bytes(work: Work) -> int:
    """The peak memory of torch during a function, above what it held before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        work()
    changes = [
        (event.start_ns(), event.nbytes())
        for event in profiler.profiler.kineto_results.events()
        if event.name() == "[memory]"
    ]
    held = peak = 0
    for _, change in sorted(changes, key=lambda pair: pair[0]):
        held += change
        peak = max(peak, held)
    return peak


def peak_gflops(seconds: float = 0.5) -> float:
    """The speed of this machine: billions of operations a second in a large matrix product."""
    size = 1024
    a, b = torch.randn(size, size), torch.randn(size, size)
    (taken,) = milliseconds([lambda: a @ b], seconds)
    return 2 * size**3 / taken / 1e6
