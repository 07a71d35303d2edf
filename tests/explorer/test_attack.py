"""What an unfriendly client may do to the explorer: nothing."""

import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import time

import httpx2
import pytest
from starlette.testclient import TestClient

from analysis.handmade import task_1_reader
from tpr_rnn.explorer import limits
from tpr_rnn.explorer.app import create_app
from tpr_rnn.explorer.security import LOCAL
from tpr_rnn.explorer.service import Service

ASKING = {"story": ["Mary went to the kitchen."], "question": "Where is Mary?"}


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = create_app(Service(task_1_reader(), "handmade"), LOCAL)
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:3000", "null", "http://", ""]
)
def test_another_page_is_refused(client, origin) -> None:
    refused = client.post("/api/answer", json=ASKING, headers={"origin": origin})
    assert refused.status_code == 403
    assert "is another page than that of this explorer" in refused.json()["error"]
    own = {"origin": "http://127.0.0.1:8000"}
    assert client.post("/api/answer", json=ASKING, headers=own).status_code == 200


def test_a_compressed_body_is_not_unpacked(client) -> None:
    bomb = gzip.compress(b" " * 10**8)
    assert len(bomb) < limits.BODY
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    assert client.post("/api/answer", content=bomb, headers=headers).status_code == 400


@pytest.fixture(scope="module")
def impatient():
    """An explorer that waits for a second where others wait for ten."""
    program = (
        "from analysis.handmade import task_1_reader\n"
        "from tpr_rnn.explorer import limits, server, service\n"
        "limits.REQUEST_SECONDS = 1.0\n"
        "server.serve(service.Service(task_1_reader(), 'handmade'), '127.0.0.1', 0,\n"
        "    browser=False, announce=lambda address: print(address, flush=True))\n"
    )
    path = os.pathsep.join(["tests", *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
        finally:
            process.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"P",
        b"POST /api/answer HTTP/1.1\r\nhost: 127.0.0.1\r\n",
        b"POST /api/answer HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        b"content-length: 1000\r\n\r\n{",
    ],
    ids=["nothing", "a byte", "half the headers", "half the body"],
)
def test_a_slow_client_loses_its_connection(impatient, begin) -> None:
    """However it keeps sending: a byte now and then is no request."""
    with socket.create_connection(("127.0.0.1", int(impatient[1])), timeout=60) as slow:
        opened = time.monotonic()
        slow.sendall(begin)
        slow.settimeout(0.2)
        closed = False
        while not closed and time.monotonic() - opened < 60:
            try:
                if begin:
                    slow.sendall(b" " if begin.endswith(b"{") else b"x")
                closed = slow.recv(1000) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
        assert closed
    assert httpx2.get(f"http://{impatient[0]}/api/model", timeout=60).status_code == 200
