"""The HTTP interface: what a program gets."""

import json

import pytest
from starlette.testclient import TestClient

from analysis.handmade import handmade_reader, task_1_reader
from tpr_rnn import trace
from tpr_rnn.data import simulator
from tpr_rnn.explorer import limits
from tpr_rnn.explorer.app import create_app
from tpr_rnn.explorer.messages import QuestionsRequest, TraceResponse
from tpr_rnn.explorer.service import Service
from tpr_rnn.memory import SPECS

API = ("model", "operations", "gallery", "answer", "trace", "story", "parse", "check", "questions")
STORY = ["Mary went to the kitchen.", "John went to the garden.", "Mary went to the office."]


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


def test_the_interface_is_described_and_the_description_loads_nothing(client) -> None:
    description = client.get("/api/openapi.json").json()
    assert set(description["paths"]) == {f"/api/{name}" for name in API}
    for path in description["paths"].values():
        for operation in path.values():
            assert {"200", "400", "413", "421", "422", "503"} <= set(operation["responses"])
    assert client.get("/docs").status_code == 404


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
