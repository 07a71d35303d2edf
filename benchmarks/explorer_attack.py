"""An unfriendly crowd: does the explorer keep answering, without an error and at the same size?

    python -m benchmarks.explorer_attack [RUN] [--connections 200] [--requests 20000] [--out FILE]

Starts the explorer in a process of its own and attacks it from this one, on this machine alone:
so many connections send well-formed requests, nonsense, bodies that are too large or compressed,
and foreign hosts and origins; others meanwhile send a byte a second and never a request. Exits
with status 1 if an answer is a server's error (5xx), if a slow client keeps its connection, if the
memory grows by more than 5 %, or if a question is not answered again within a second.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx2

from benchmarks.explorer_load import GROWTH, resident_mb
from tpr_rnn.evaluation.provenance import now, source
from tpr_rnn.explorer import limits

SLOW = 40
"""Connections that send a byte a second."""
ASKING = {"story": ["Mary went to the kitchen."], "question": "Where is Mary?"}
BOMB = gzip.compress(b" " * 10**8)
JSON = {"content-type": "application/json"}
KINDS = {
    "a question": {"method": "POST", "url": "/api/answer", "json": ASKING},
    "the page": {"method": "GET", "url": "/"},
    "a story": {"method": "GET", "url": "/api/story?task=1&seed=1"},
    "nonsense": {"method": "POST", "url": "/api/trace", "content": b"{", "headers": JSON},
    "wrong types": {"method": "POST", "url": "/api/answer", "json": {"story": 5}},
    "no address": {"method": "DELETE", "url": "/api/%00/../secret"},
    "a large body": {
        "method": "POST", "url": "/api/parse", "content": b"x" * (limits.BODY + 1), "headers": JSON,
    },
    "a compressed body": {
        "method": "POST", "url": "/api/parse", "content": BOMB,
        "headers": {**JSON, "content-encoding": "gzip"},
    },
    "deep JSON": {
        "method": "POST", "url": "/api/answer", "content": b"[" * 100_000, "headers": JSON,
    },
    "a foreign host": {"method": "GET", "url": "/api/model", "headers": {"host": "evil.example"}},
    "a foreign origin": {
        "method": "POST", "url": "/api/answer", "json": ASKING,
        "headers": {"origin": "http://evil.example"},
    },
}  # fmt: skip
"""What is sent: as often one as the other."""


async def attack(address: str, options: argparse.Namespace, process: int) -> dict:
    """What came of it."""
    chance, host_and_port = random.Random(0), address.removeprefix("http://").split(":")
    statuses: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    many = options.connections
    pool = httpx2.Limits(max_connections=many, max_keepalive_connections=many)
    async with httpx2.AsyncClient(base_url=address, limits=pool, timeout=300) as client:

        async def send(left: list[str]) -> None:
            while left:
                kind = left.pop()
                try:
                    status = str((await client.request(**KINDS[kind])).status_code)
                except httpx2.HTTPError as error:  # refused while the body is still on its way
                    status = type(error).__name__
                statuses[kind][status] += 1

        async def crowd(requests: int) -> None:
            left = [chance.choice([*KINDS]) for _ in range(requests)]
            await asyncio.gather(*(send(left) for _ in range(many)))

        await crowd(max(options.requests // 10, many))
        before = resident_mb(process)
        for counts in statuses.values():
            counts.clear()
        begun = time.perf_counter()
        slow = asyncio.gather(*(dawdle(*host_and_port) for _ in range(SLOW)))
        await crowd(options.requests)
        seconds = time.perf_counter() - begun
        kept = await slow
        again = time.perf_counter()
        answered = (await client.request(**KINDS["a question"])).status_code
        again = time.perf_counter() - again
        after = resident_mb(process)
    return {
        "command": f"benchmarks.explorer_attack --connections {many} --requests {options.requests}",
        "when": now(),
        "commit": source().commit,
        "load_average": os.getloadavg()[0],
        "seconds": round(seconds, 1),
        "statuses": {kind: dict(sorted(counts.items())) for kind, counts in statuses.items()},
        "slow_clients": SLOW,
        "slow_clients_closed_after_s": round(max(kept), 1),
        "answered_again": answered,
        "answered_again_after_s": round(again, 3),
        "memory_before_mb": round(before, 1),
        "memory_after_mb": round(after, 1),
    }


async def dawdle(host: str, port: str) -> float:
    """Send a byte a second; return the seconds until the explorer has enough of it."""
    reader, writer = await asyncio.open_connection(host, int(port))
    begun = time.perf_counter()
    reading = asyncio.create_task(reader.read())
    try:
        for byte in b"POST /api/answer HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"x" * 600:
            writer.write(bytes([byte]))
            await writer.drain()
            if (await asyncio.wait([reading], timeout=1))[0]:
                break
    except ConnectionError:
        pass
    reading.cancel()
    writer.close()
    return time.perf_counter() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    command = [sys.executable, "-m", "tpr_rnn", "explore", "--no-browser", "--port", "0"]
    command += [str(options.run)] if options.run else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as explorer:
        try:
            address = re.search(r"http://[^\s/]+", explorer.stdout.readline()).group()
            found = asyncio.run(attack(address, options, explorer.pid))
        finally:
            explorer.terminate()
    text = json.dumps(found, indent=2) + "\n"
    print(text, end="")
    if options.out:
        options.out.write_text(text)
    errors = [status for each in found["statuses"].values() for status in each if status > "499"]
    grown = found["memory_after_mb"] > GROWTH * found["memory_before_mb"]
    late = found["answered_again"] != 200 or found["answered_again_after_s"] > 1
    slow = found["slow_clients_closed_after_s"] > 3 * limits.REQUEST_SECONDS
    return int(bool([each for each in errors if each.isdigit()]) or grown or late or slow)


if __name__ == "__main__":
    sys.exit(main())
