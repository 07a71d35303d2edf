"""A trace says in words what happens in the memory."""

import json
import math

import pytest
import torch

from analysis.handmade import ENTITIES, handmade_reader
from tpr_rnn.analysis.trace import trace
from tpr_rnn.errors import UserError
from tpr_rnn.models.reader import Reader

STORY = [
    "Mary went to the kitchen.",
    "John went to the garden.",
    "Mary went to the office.",
]


@pytest.fixture
def reader() -> Reader:
    return handmade_reader()


def names(trace, attribute="nodes"):
    return [group.name.text for group in getattr(trace, attribute)]


def test_entities_have_the_names_of_their_words(reader) -> None:
    found = trace(reader, STORY)
    assert names(found) == ["mary", "kitchen", "john", "garden", "office"]
    assert all(group.name.confidence > 0.8 for group in found.nodes)
    assert found.nodes[0].members == ((0, "e1"), (2, "e1"))
    first = found.sentences[0]
    assert first.tokens == ("mary", "went", "to", "the", "kitchen", ".")
    assert first.parts["e2"].name.text == "kitchen"
    assert first.parts["e2"].words.index(max(first.parts["e2"].words)) == 4
    assert sum(first.parts["e2"].words) == pytest.approx(1)


def test_what_never_changes_has_no_name(reader) -> None:
    found = trace(reader, STORY)
    assert names(found, "relations") == ["", "", ""]
    assert {group.name.confidence for group in found.relations} == {0.0}


def test_the_memory_after_each_sentence_reads_like_the_story(reader) -> None:
    found = trace(reader, STORY)
    node = names(found)

    def arrows(sentence):
        return {(node[a.source], a.operation, node[a.target]) for a in sentence.held}

    assert arrows(found.sentences[0]) == {
        ("mary", "write", "kitchen"),
        ("kitchen", "backlink", "mary"),
    }
    assert arrows(found.sentences[2]) == {
        ("mary", "write", "office"),
        ("mary", "move", "kitchen"),
        ("john", "write", "garden"),
        ("kitchen", "backlink", "mary"),
        ("garden", "backlink", "john"),
        ("office", "backlink", "mary"),
    }
    assert {
        (node[arrow.source], arrow.operation): arrow.told_by for arrow in found.sentences[2].held
    } == {
        ("mary", "write"): 2,
        ("mary", "move"): 0,  # Mary's third sentence moved it, but the first told it
        ("john", "write"): 1,
        ("kitchen", "backlink"): 0,
        ("garden", "backlink"): 1,
        ("office", "backlink"): 2,
    }
    last_used = [arrow.sentence for arrow in found.sentences[2].held]
    assert last_used == sorted(last_used)
    for arrow in found.sentences[2].held:
        assert arrow.strength == pytest.approx(1, abs=1e-6)
    write, move, _ = found.sentences[2].changes
    assert (write.removed.name, write.added.name) == ("kitchen", "office")
    assert (move.removed.name, move.added.name) == ("", "kitchen")


def test_a_question_shows_from_which_sentence_its_answer_came(reader) -> None:
    found = trace(reader, STORY, "Where is Mary?").question
    assert found.answers[0].word == "office"
    assert found.parts["n"].name.text == "mary"
    assert found.parts["n"].group == 0
    assert found.parts["l1"].name.text == "is"
    step = found.steps[0]
    assert step.retrieved.name == "office"
    best = max(step.origins, key=lambda origin: origin.share)
    assert (best.sentence, best.part, best.share) == (2, "e2", pytest.approx(1))
    assert [answer.word for answer in found.leave_one_out] == ["office", "office", "kitchen"]


def test_what_was_moved_is_traced_to_the_sentence_that_told_it(reader) -> None:
    step = trace(reader, STORY, "Where was Mary?").question.steps[0]
    assert step.retrieved.name == "kitchen"
    row = max(step.rows, key=lambda row: row.share)
    assert (row.sentence, row.operation) == (2, "move")
    origin = max(step.origins, key=lambda origin: origin.share)
    assert (origin.sentence, origin.part) == (0, "e2")


def test_an_operation_can_be_switched_off(reader) -> None:
    question = "Where was Mary?"
    whole = trace(reader, STORY, question)
    ablated = trace(reader, STORY, question, operations=["write", "backlink"])
    assert whole.question.steps[0].retrieved.name == "kitchen"
    assert ablated.operations == ("write", "backlink")
    assert ablated.question.steps[0].retrieved.node is None
    assert {change.operation for change in ablated.sentences[2].changes} == {"write", "backlink"}
    same = trace(handmade_reader(("write", "backlink")), STORY, question)
    assert same == ablated
    with pytest.raises(UserError, match="trained without move"):
        trace(handmade_reader(("write",)), STORY, operations=["write", "move"])
    with pytest.raises(UserError, match="move needs write"):
        trace(reader, STORY, operations=["move"])


def test_a_vector_that_its_words_hardly_turn_is_named_by_contrast(reader) -> None:
    """As when a model's favourite name is what the average word gives as well."""
    with torch.no_grad():
        reader.model.update.entity_bias[0, 0, ENTITIES.index("john")] = 0.3
    found = trace(reader, STORY)
    assert found.sentences[1].parts["e1"].name.text == "john"
    assert found.sentences[1].parts["e1"].name.confidence < 1
    alone = trace(reader, STORY[1:2])
    assert alone.sentences[0].parts["e1"].name.text == ""


def test_one_direction_with_two_names_has_both(reader) -> None:
    with torch.no_grad():
        weight = reader.model.update.entity_weight[0]
        weight[reader.vocabulary.number("john")] = weight[reader.vocabulary.number("mary")]
        reader.model.update.entity_bias[0, 0, -1] = 0.5  # what a sentence about nobody says
    found = trace(reader, [*STORY, "Mary went to the garden."])
    assert names(found)[0] == "mary / john"
    assert found.sentences[1].parts["e1"].name.text == "john"


def test_only_the_last_sentences_are_read(reader) -> None:
    short = Reader(reader.model, reader.vocabulary, max_sentences=2)
    found = trace(short, STORY, "Where is Mary?")
    assert found.skipped == 1
    assert [sentence.text for sentence in found.sentences] == STORY[1:]


def test_similarities_are_cosines(reader) -> None:
    similarity = trace(reader, STORY).similarity
    assert list(similarity) == ["e1", "e2", "r1", "r2", "r3"]
    assert similarity["e1"][0] == pytest.approx((1, 0, 1), abs=1e-6)
    assert similarity["r1"][0] == pytest.approx((1, 1, 1))


def test_a_trace_is_plain_json(reader) -> None:
    for story in (STORY, STORY[:1], []):
        plain = trace(reader, story, "Where is Mary?").as_json()
        assert json.loads(json.dumps(plain)) == plain
    assert trace(reader, []).as_json()["question"] is None
    assert plain["sentences"] == plain["nodes"] == []
    assert plain["question"]["parts"]["n"]["group"] is None
    assert not any(math.isnan(answer["probability"]) for answer in plain["question"]["answers"])


@pytest.mark.parametrize(
    ("story", "question", "message"),
    [
        (["Marry went to the kitchen."], None, r"'marry' \(did you mean mary\?\)"),
        (STORY, "Where is Bob?", "'bob'"),
        (["Mary went to the the the kitchen."], None, "has 8 words"),
        (STORY, "", "has 0 words"),
    ],
)
def test_what_the_model_cannot_read_is_named(reader, story, question, message) -> None:
    with pytest.raises(UserError, match=message):
        trace(reader, story, question)
