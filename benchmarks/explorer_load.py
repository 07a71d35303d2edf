"""Many users at once: how soon does the explorer answer, and does its memory stay the same?

    python -m benchmarks.explorer_load RUN [--connections 50] [--seconds 30] [--json]

Starts the explorer in a process of its own and asks from this one, on so many connections, each
asking again as soon as it is answered. Exits with status 1 if an answer fails, if 1 % of them take
more than 300 ms, or if the explorer's memory grows by more than 5 %.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import numpy as np

LIMIT_MS = 300
GROWTH = 1.05
WARM_UP = 3.0
"""Seconds before anything is measured."""


async def ask(client: httpx2.AsyncClient, asking: dict, until: float, times: list[float]) -> int:
    failed = 0
    while time.perf_counter() < until:
        start = time.perf_counter()
        answer = await client.post("/api/answer", json=asking)
        times.append(time.perf_counter() - start)
        failed += answer.status_code != 200
    return failed


async def load(address: str, connections: int, seconds: float, process: int) -> dict:
    pool = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    async with httpx2.AsyncClient(base_url=address, limits=pool, timeout=30) as client:
        model = (await client.get("/api/model")).json()
        task = next(task["name"] for task in model["tasks"] if task["known"])
        story = (await client.get("/api/story", params={"task": task, "seed": 1})).json()
        asking = {"story": story["sentences"], "question": story["questions"][-1]["text"]}

        async def crowd(duration: float, times: list[float]) -> int:
            until = time.perf_counter() + duration
            return sum(
                await asyncio.gather(
                    *(ask(client, asking, until, times) for _ in range(connections))
                )
            )

        await crowd(WARM_UP, [])
        before, busy = resident_mb(process), cpu_seconds(process)
        times: list[float] = []
        failed = await crowd(seconds, times)
        after, busy = resident_mb(process), cpu_seconds(process) - busy
    p50, p99, most = (1000 * float(q) for q in np.quantile(times, [0.5, 0.99, 1]))
    return {
        "connections": connections,
        "seconds": seconds,
        "sentences": len(asking["story"]),
        "answers": len(times),
        "failed": failed,
        "answers_per_second": round(len(times) / seconds),
        "cpu_ms_per_answer": round(1000 * busy / len(times), 2),
        "p50_ms": round(p50, 1),
        "p99_ms": round(p99, 1),
        "max_ms": round(most, 1),
        "memory_before_mb": round(before, 1),
        "memory_after_mb": round(after, 1),
        "load_average": os.getloadavg()[0],
    }


def resident_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def cpu_seconds(process: int) -> float:
    """What the explorer has computed: on a busy machine this says more than how long it took."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    command = [sys.executable, "-m", "tpr_rnn", "explore", str(options.run), "--no-browser"]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True) as explorer:
        try:
            address = re.search(r"http://\S+", explorer.stdout.readline()).group()
            found = asyncio.run(load(address, options.connections, options.seconds, explorer.pid))
        finally:
            explorer.terminate()
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(f"{name:20} {value}" for name, value in found.items()))
    grown = found["memory_after_mb"] > GROWTH * found["memory_before_mb"]
    return int(bool(found["failed"] or found["p99_ms"] > LIMIT_MS or grown))


if __name__ == "__main__":
    sys.exit(main())
