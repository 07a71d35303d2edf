"""Who waits for an answer, who is sent away, and whose work is not done."""

import asyncio
import threading

from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient

from tpr_rnn.explorer import limits
from tpr_rnn.explorer.app import create_app
from tpr_rnn.explorer.queue import BusyError, Queue


def visitor(leaves: asyncio.Event | None = None) -> Request:
    """Somebody who waits for an answer until it is time to leave."""

    async def receive() -> dict[str, str]:
        await (leaves or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http"}, receive)


def test_who_comes_when_all_places_are_taken_is_sent_away(monkeypatch) -> None:
    monkeypatch.setattr(limits, "WAITING", 1)
    go = threading.Event()

    async def crowd() -> list[object]:
        queue = Queue()
        asked = [asyncio.create_task(queue.do(visitor(), go.wait)) for _ in range(3)]
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.1, go.set)
        return await asyncio.gather(*asked, return_exceptions=True)

    served, waited, refused = asyncio.run(crowd())
    assert (served, waited) == (True, True)
    assert isinstance(refused, BusyError)


def test_the_work_of_those_who_have_gone_is_not_done(monkeypatch) -> None:
    monkeypatch.setattr(limits, "WAITING", 1)
    go, done = threading.Event(), []

    def work(who: str) -> str:
        done.append(who)
        go.wait()
        return who

    async def crowd() -> list[object]:
        queue, leaves = Queue(), asyncio.Event()
        begun = asyncio.create_task(queue.do(visitor(leaves), work, "begun"))
        while not done:
            await asyncio.sleep(0.001)
        waited = asyncio.create_task(queue.do(visitor(leaves), work, "waited"))
        await asyncio.sleep(0)
        leaves.set()
        await asyncio.wait([waited], timeout=5)
        stayed = asyncio.create_task(queue.do(visitor(), work, "stayed"))  # there is a place again
        asyncio.get_running_loop().call_later(0.1, go.set)
        return await asyncio.gather(begun, waited, stayed, return_exceptions=True)

    begun, waited, stayed = asyncio.run(crowd())
    assert (begun, stayed) == ("begun", "stayed")
    assert isinstance(waited, ClientDisconnect)
    assert done == ["begun", "stayed"]


def test_a_busy_explorer_says_so_and_still_describes_its_model(service, monkeypatch) -> None:
    monkeypatch.setattr(limits, "WAITING", -1)
    client = TestClient(create_app(service))
    answer = client.post("/api/check", json={"story": []})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert client.get("/api/model").status_code == 200
