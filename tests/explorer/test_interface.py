"""The HTTP interface: what a program gets, and what it is told when it asks wrongly."""

import asyncio
import json
import re
import threading
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient

from analysis.handmade import handmade_reader, task_1_reader
from tpr_rnn import trace
from tpr_rnn.data import simulator
from tpr_rnn.explorer import limits
from tpr_rnn.explorer.app import REFUSALS, create_app
from tpr_rnn.explorer.messages import QuestionsRequest, TraceResponse
from tpr_rnn.explorer.queue import BusyError, Queue
from tpr_rnn.explorer.security import LOCAL
from tpr_rnn.explorer.service import Service
from tpr_rnn.memory import SPECS

API = ("model", "operations", "gallery", "answer", "trace", "story", "parse", "check", "questions")
STORY = ["Mary went to the kitchen.", "John went to the garden.", "Mary went to the office."]


@pytest.fixture(scope="module")
def service() -> Service:
    return Service(task_1_reader(), "handmade")


@pytest.fixture(scope="module")
def client(service) -> TestClient:
    return TestClient(create_app(service), raise_server_exceptions=False)


def test_it_answers_as_the_reader_does(client, service) -> None:
    found = client.post("/api/answer", json={"story": STORY, "question": "Where is Mary?"}).json()
    expected = service.reader.answer(STORY, "Where is Mary?")
    assert found["answer"] == "office"
    assert [guess["word"] for guess in found["answers"]] == [guess.word for guess in expected]
    assert found["answers"][0]["probability"] == pytest.approx(expected[0].probability)


def test_so_many_answers_as_asked_for(client) -> None:
    asking = {"story": STORY, "question": "Where is Mary?", "top": 2}
    assert len(client.post("/api/answer", json=asking).json()["answers"]) == 2


def test_an_operation_can_be_switched_off(client) -> None:
    asking = {"story": STORY, "question": "Where was Mary?"}
    assert client.post("/api/answer", json=asking).json()["answer"] == "kitchen"
    without = {**asking, "operations": ["write", "backlink"]}
    assert client.post("/api/answer", json=without).json()["answer"] != "kitchen"
    refused = client.post("/api/answer", json={**asking, "operations": ["move"]})
    assert refused.status_code == 400
    assert "move needs write" in refused.json()["error"]


def test_a_trace_is_that_of_the_library_with_names_and_reasons(client, service) -> None:
    tracing = {"story": STORY, "question": "Where is Mary?", "operations": ["write"]}
    found = client.post("/api/trace", json=tracing)
    TraceResponse.model_validate_json(found.content)  # as the OpenAPI description says
    expected = trace(service.reader, STORY, "Where is Mary?", operations=["write"])
    assert found.json()["trace"] == json.loads(json.dumps(expected.as_json()))
    assert found.json()["names"] == ["mary", "kitchen", "john", "garden", "office"]
    first, *_ = found.json()["why"]["steps"]
    assert first["name"] == "office"
    assert first["found"] == "From mary the memory leads to office."
    assert first["sources"] == [{"sentence": 2, "share": pytest.approx(1)}]


def test_what_supports_the_answer_and_is_not_needed_is_said(client) -> None:
    tracing = {"story": STORY, "question": "Where is Mary?"}
    why = client.post("/api/trace", json={**tracing, "supports": [0, 2]}).json()["why"]
    assert why["spare"] == "It does not use sentence 1."
    assert client.post("/api/trace", json=tracing).json()["why"]["spare"] == ""
    refused = client.post("/api/trace", json={**tracing, "supports": [-1]})
    assert refused.status_code == 422


def test_another_model_beside_can_be_asked_and_one_that_is_not_there_is_named() -> None:
    other = task_1_reader().with_operations(["write"])
    client = TestClient(create_app(Service(task_1_reader(), "handmade", {"plain": other})))
    (beside,) = client.get("/api/model").json()["beside"]
    assert beside == {"name": "plain", "operations": ["write"]}
    asking = {"story": STORY, "question": "Where was Mary?"}
    assert client.post("/api/trace", json=asking).json()["trace"]["operations"] != ["write"]
    found = client.post("/api/trace", json={**asking, "model": "plain"}).json()
    assert found["trace"]["operations"] == ["write"]
    expected = other.answer(STORY, "Where was Mary?")[0].word
    assert found["trace"]["question"]["answers"][0]["word"] == expected
    assert (
        client.post("/api/answer", json={**asking, "model": "plain"}).json()["answer"] == expected
    )
    refused = client.post("/api/answer", json={**asking, "model": "none"})
    assert refused.status_code == 400
    assert "no model 'none' here; beside this one: 'plain'" in refused.json()["error"]


def test_a_story_alone_can_be_traced(client) -> None:
    found = client.post("/api/trace", json={"story": STORY}).json()
    assert found["why"] is None
    assert found["trace"]["question"] is None
    assert len(client.post("/api/trace", json={"story": []}).json()["trace"]["sentences"]) == 0


def test_the_model_is_described(client) -> None:
    model = client.get("/api/model").json()
    assert model["name"] == "handmade"
    assert model["operations"] == ["write", "move", "backlink"]
    assert "kitchen" in model["words"]
    assert "<pad>" not in model["words"]
    assert [task["name"] for task in model["tasks"] if task["known"]] == ["1"]
    assert len(model["tasks"]) == 20


def test_the_operations_are_those_of_the_memorys_table(client) -> None:
    served = client.get("/api/operations").json()["operations"]
    assert [one["name"] for one in served] == list(SPECS)
    for one in served:
        spec = SPECS[one["name"]]
        for field in ("title", "purpose", "meaning", "colour", "colour_on_dark", "line", "source"):
            assert one[field] == getattr(spec, field)
        assert one["relations"] == list(spec.relation)
    assert {one["name"]: one["needs"] for one in served if one["needs"]} == {"move": ["write"]}


def test_a_story_is_told_with_its_true_answers(client) -> None:
    story = client.get("/api/story", params={"task": 1, "seed": 7}).json()
    told = simulator.tell("1", seed=7)
    assert story["sentences"] == list(told.sentences)
    assert story["questions"][0] == {
        "text": told.questions[0].text,
        "answer": told.questions[0].answer.lower(),
        "after": told.questions[0].after,
        "supports": list(told.questions[0].supports),
    }
    asking = {
        "story": story["sentences"][: story["questions"][-1]["after"]],
        "question": story["questions"][-1]["text"],
    }
    answer = client.post("/api/answer", json=asking).json()["answer"]
    assert answer == story["questions"][-1]["answer"]


@pytest.mark.parametrize("task", simulator.TASK_TITLES)
def test_every_task_tells_a_story(client, task) -> None:
    assert client.get("/api/story", params={"task": task}).json()["questions"]


def test_questions_fit_the_story(client) -> None:
    asked = client.post("/api/questions", json={"story": STORY}).json()["questions"]
    assert asked == ["Where is John?", "Where is Mary?"]
    strange = {"story": ["Mary took the milk."]}
    assert client.post("/api/questions", json=strange).json()["questions"] == []
    assert client.post("/api/questions", json={"story": []}).json()["questions"] == []


def test_unknown_words_come_with_known_ones(client) -> None:
    typed = {"story": ["Mary went to the kitchn.", "Mary " * 9], "question": "Who <b>flew</b>?"}
    assert client.post("/api/check", json=typed).json() == {
        "unknown": [
            {"word": "kitchn", "nearest": ["kitchen"]},
            {"word": "who", "nearest": ["where"]},
            {"word": "<b>flew</b>", "nearest": []},
        ],
        "new_words": [],
    }


def test_only_so_many_unknown_words_are_looked_up(client) -> None:
    story = [f"kitche{number}" for number in range(limits.CORRECTED + 1)]
    unknown = client.post("/api/check", json={"story": story}).json()["unknown"]
    assert [bool(word["nearest"]) for word in unknown] == [True] * limits.CORRECTED + [False]


def test_stories_are_read_from_a_text(client) -> None:
    babi = "1 Mary went home.\n2 Where is Mary?\tHome\t1\n1 John left.\n"
    found = client.post("/api/parse", json={"text": babi}).json()["stories"]
    assert [story["sentences"] for story in found] == [["Mary went home."], ["John left."]]
    assert found[0]["questions"][0]["answer"] == "home"
    plain = client.post("/api/parse", json={"text": " Mary left.\n\nJohn left.\r\n"}).json()
    assert plain["stories"] == [{"sentences": ["Mary left.", "John left."], "questions": []}]
    for text in ("Mary left.\nWho left?", "Mary left. Who left?"):
        (asked,) = client.post("/api/parse", json={"text": text}).json()["stories"]
        assert asked["sentences"] == ["Mary left."]
        assert asked["questions"] == [
            {"text": "Who left?", "answer": None, "after": 1, "supports": []}
        ]


WRONG = {
    "unknown word": (400, "never seen the word 'marie'", {"question": "Where is Marie?"}),
    "many unknown words": (400, "and 2 more", {"story": [f"x{n}" for n in range(12)]}),
    "no words": (400, "has 0 words", {"story": [" "]}),
    "too many words": (400, "reads 1 to 8", {"question": "is " * 9}),
    "too many sentences": (
        422,
        "the story has 301 sentences; at most 300 are allowed",
        {"story": ["Mary"] * 301},
    ),
    "a long sentence": (
        422,
        "sentence 2 has 201 characters; at most 200 are allowed",
        {"story": ["Mary left.", "a" * 201]},
    ),
    "a long question": (
        422,
        "the question has 201 characters; at most 200",
        {"question": "a" * 201},
    ),
    "an empty sentence": (422, "sentence 1 is empty; expected some words", {"story": [""]}),
    "wrong type": (422, "body.story", {"story": "Mary left."}),
    "no question": (422, "body.question", {"question": None}),
    "operation": (422, "'write', 'move'", {"operations": ["forget"]}),
    "field": (422, "body.stroy", {"stroy": []}),
    "markup": (400, "'<script>'", {"question": "<script> ?"}),
}


@pytest.mark.parametrize(("status", "message", "change"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(client, status, message, change) -> None:
    asking = {"story": STORY, "question": "Where is Mary?"} | change
    answer = client.post("/api/answer", json=asking)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Mary left.\n3 John left.", "the text:2: the line is numbered 3"),
        ("", "the text: an empty story; expected"),
        (" \n", "the text: an empty story; expected"),
        ("1 Mary left.\n" * 101, "the text has 101 stories; at most 100 are allowed"),
        ("Mary left. " * 301, "the story has 301 sentences; at most 300 are allowed"),
        ("Mary left. " * 2 + "a" * 201, "sentence 3 has 201 characters; at most 200 are"),
        ("Mary left. " + "a" * 200 + "?", "the question has 201 characters; at most 200 are"),
        ("1 Mary left.\n1 " + "a" * 201, "story 2: sentence 1 has 201 characters; at most 200 are"),
    ],
    ids=["numbers", "empty", "blank", "stories", "sentences", "sentence", "question", "second"],
)
def test_a_text_that_is_no_story_is_refused(client, text, message) -> None:
    answer = client.post("/api/parse", json={"text": text})
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_a_text_that_is_too_long_is_refused(client) -> None:
    answer = client.post("/api/parse", json={"text": "a" * (limits.TEXT + 1)})
    assert answer.status_code == 422
    assert answer.json()["error"] == ("the text has 60,001 characters; at most 60,000 are allowed")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"story": ["\\ud800"], "question": "x"}', 422),
        (b'{"story": ["\\u0000\\u202e"], "question": "\xf0\x9f\x98\x80"}', 400),
        (b"\xff\xfe", 422),
        (b"{" * 1000, 422),
        (b"[" * 100_000, 400),
        (b"", 422),
        (b"x" * (limits.BODY + 1), 413),
    ],
    ids=["surrogate", "odd", "not text", "not JSON", "deep", "nothing", "huge"],
)
def test_odd_bodies_are_refused_in_the_same_form(client, body, status) -> None:
    header = {"content-type": "application/json"}
    answer = client.post("/api/answer", content=body, headers=header)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]


def test_a_huge_body_that_does_not_say_its_length_is_refused(client) -> None:
    chunks = (b"x" * 10_000 for _ in range(limits.BODY // 10_000 + 1))
    answer = client.post("/api/answer", content=chunks)
    assert answer.status_code == 413
    assert "too large" in answer.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("POST", "/", 405), ("GET", "/api/answer", 405),
     ("GET", "/api/story?task=21", 422), ("GET", "/api/story", 422), ("GET", "/..%2fapp.py", 404)],
)  # fmt: skip
def test_addresses_that_do_not_exist(client, method, path, status) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]


def test_every_refusal_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "explorer.md").read_text()
    (listed,) = re.findall(r"A refused request is answered by .*?\n\n## ", text, re.DOTALL)
    assert [int(status) for status in re.findall(r"\b[45]\d\d\b", listed)] == sorted(
        {*REFUSALS, 404, 405, 500}
    )


def test_a_fault_is_told_in_the_same_form(service, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("not for users")

    monkeypatch.setattr(Service, "check", broken)
    client = TestClient(create_app(service), raise_server_exceptions=False)
    answer = client.post("/api/check", json={"story": []})
    assert answer.status_code == 500
    assert "not for users" not in answer.json()["error"]


def test_other_names_of_the_machine_are_refused(service) -> None:
    client = TestClient(create_app(service, LOCAL))
    for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:80", "[::1]:1", "[::1]"):
        assert client.get("/", headers={"host": host}).status_code == 200
    refused = client.get("/api/model", headers={"host": "evil.example:8000"})
    assert refused.status_code == 421
    assert "'evil.example'" in refused.json()["error"]


def test_browsers_are_told_to_be_strict(client) -> None:
    for path in ("/", "/api/model", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == ("no-store" if "api" in path else "no-cache")


def test_the_interface_is_described_and_the_description_loads_nothing(client) -> None:
    description = client.get("/api/openapi.json").json()
    assert set(description["paths"]) == {f"/api/{name}" for name in API}
    for path in description["paths"].values():
        for operation in path.values():
            assert {"200", "400", "413", "421", "422", "503"} <= set(operation["responses"])
    assert client.get("/docs").status_code == 404


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


def test_the_model_is_described_before_anybody_asks(monkeypatch) -> None:
    service = Service(task_1_reader(), "handmade")
    monkeypatch.setattr("tpr_rnn.explorer.questions.tell", None)
    assert TestClient(create_app(service)).get("/api/model").json()["name"] == "handmade"
    assert service.suggest(QuestionsRequest(story=STORY)) == ["Where is John?", "Where is Mary?"]


def test_an_ablated_reader_leaves_the_model_alone() -> None:
    reader = handmade_reader()
    ablated = reader.with_operations(["write"])
    assert ablated.model.operations == ("write",)
    assert reader.model.operations == ("write", "move", "backlink")
    assert ablated.model.output is reader.model.output
