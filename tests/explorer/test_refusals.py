"""What the HTTP interface says to wrong input, strange requests and strangers."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tpr_rnn.explorer import limits
from tpr_rnn.explorer.app import REFUSALS, create_app
from tpr_rnn.explorer.security import LOCAL
from tpr_rnn.explorer.service import Service

STORY = ["Mary went to the kitchen.", "John went to the garden.", "Mary went to the office."]
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
