"""Every number of a trace is that of the memory step by step."""

import json

import pytest
import torch

from analysis.handmade import GAIN, handmade_reader
from tpr_rnn.analysis.naming import MAJORITY, Occurrence, group_things
from tpr_rnn.analysis.steps import follow
from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.memory import Associations, scalar_layer_norm, sequential
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.reader import Reader

KEYS = {"write": ("e1", "r1"), "move": ("e1", "r2"), "backlink": ("e2", "r3")}
SUBSETS = [("write",), ("backlink",), ("write", "move"), ("write", "move", "backlink")]
WORDS = ("mary", "john", "went", "took", "milk", "home", "there", ".", "where", "is", "?")
RANDOM_STORY = (
    "Mary went home.",
    "John took milk there.",
    "Mary took milk.",
    "John went home.",
    "John went home.",
    "Milk is there.",
)


def random_reader(operations, **settings) -> Reader:
    """Random weights, keys near length 1: nothing is tidy, and all can be computed."""
    vocabulary = Vocabulary(WORDS)
    config = TPRRNNConfig(
        vocabulary_size=len(vocabulary),
        max_words=5,
        entity_size=4,
        relation_size=3,
        operations=operations,
        embedding_scale=3.0,
        **settings,
    )
    model = TPRRNN(config, generator=torch.Generator().manual_seed(1)).double().eval()
    with torch.no_grad():
        model.norm.shift.fill_(0.3)  # so that an empty memory has one likeliest answer, too
    return Reader(model, vocabulary)


def said_by(reader, story) -> dict[str, torch.Tensor]:
    model = reader.model
    return model.sentence_parts(reader.words(story))


@pytest.mark.parametrize("unit", [True, False], ids=["unit", "any length"])
@pytest.mark.parametrize("time", [0, 1, 6])
@pytest.mark.parametrize("operations", SUBSETS, ids="+".join)
def test_every_number_is_that_of_the_step_by_step_memory(operations, time, unit) -> None:
    reader = random_reader(operations, bounded_keys=unit)
    story = list(RANDOM_STORY[:time])
    found = trace(reader, story, "Where is John?")
    with torch.no_grad():
        check_numbers(reader, story, found)


def things_of(reader, story, said, found) -> list[tuple[int, torch.Tensor]]:
    """Each thing among the entities that are told: its node, and its middle."""
    places = [(t, part) for t in range(len(found.sentences)) for part in ("e1", "e2")]
    if not places:
        return []
    steps = follow(reader, story, None)
    vectors = torch.stack([said[part][t] for t, part in places])
    turned = [Occurrence(part, steps.tokens[t], steps.turned[part][t]) for t, part in places]
    labels = group_things(vectors, turned)
    found_in = {place: node for node, group in enumerate(found.nodes) for place in group.members}
    things = []
    for label in dict.fromkeys(labels):
        own = [place for place, other in zip(places, labels, strict=True) if other == label]
        (node,) = {found_in[place] for place in own}
        things.append((node, torch.stack([said[part][t] for t, part in own]).mean(0)))
    return things


def check_numbers(reader, story, found) -> None:
    model, operations = reader.model, reader.model.operations
    said = said_by(reader, story)
    whole = Associations.of(**{name: part.unsqueeze(0) for name, part in said.items()})
    things = things_of(reader, story, said, found)
    centres = [centre for _, centre in things]

    def nearest(vector):
        """Node, cosine and strength of a vector, by hand."""
        cosines = [float(torch.cosine_similarity(vector, c, dim=0)) for c in centres]
        best = max(range(len(centres)), key=lambda n: abs(cosines[n]))
        strength = float(vector @ centres[best] / (centres[best] ** 2).sum())
        return things[best][0], cosines[best], strength

    def assert_like(likeness, vector) -> None:
        if vector.norm() < 1e-12:
            assert (likeness.node, likeness.cosine, likeness.strength) == (None, 0, 0)
            return
        node, cosine, strength = nearest(vector)
        assert likeness.node == node
        assert likeness.cosine == pytest.approx(cosine, abs=1e-9)
        assert likeness.strength == pytest.approx(strength, abs=1e-9)
        assert bool(likeness.name) <= (abs(cosine) >= MAJORITY)

    memory = torch.zeros(4, 3, 4, dtype=torch.float64)
    told_by = torch.zeros(len(story), 4, 3, 4, dtype=torch.float64)
    for t, sentence in enumerate(found.sentences):
        before = memory
        _, dense = sequential(whole.between(0, t + 1), operations=operations)
        memory = dense.tensor[0]
        e1, e2, r1, r2, r3 = (said[name][t] for name in ("e1", "e2", "r1", "r2", "r3"))
        w_hat, m_hat, b_hat = (
            torch.einsum("e,r,erf->f", entity, relation, before)
            for entity, relation in ((e1, r1), (e1, r2), (e2, r3))
        )
        arrows = {"write": (w_hat, e2), "move": (m_hat, w_hat), "backlink": (b_hat, e1)}
        assert [change.operation for change in sentence.changes] == list(operations)
        for change in sentence.changes:
            assert_like(change.removed, arrows[change.operation][0])
            assert_like(change.added, arrows[change.operation][1])
            source, relation = KEYS[change.operation]
            assert change.source == sentence.parts[source].group
            assert change.relation == sentence.parts[relation].group

        # The memory is linear in what the sentences told: it is the sum of one for each of them.
        new = torch.zeros(len(story), 1, dtype=torch.float64)
        new[t] = 1
        w_own, m_own, b_own = (
            torch.einsum("e,r,serf->sf", *(said[part][t] for part in KEYS[name]), told_by)
            for name in ("write", "move", "backlink")
        )
        own = {"write": new * e2 - w_own, "move": w_own - m_own, "backlink": new * e1 - b_own}
        told_by = told_by + sum(
            torch.einsum("e,r,sf->serf", *(said[part][t] for part in KEYS[name]), own[name])
            for name in operations
        )
        torch.testing.assert_close(told_by.sum(0), memory, rtol=0, atol=1e-10)

        # Every key that was told, unless a later one is mostly of its direction.
        told = [(s, name) for s in range(t + 1) for name in operations]
        key_of = {row: tuple(said[part][row[0]] for part in KEYS[row[1]]) for row in told}
        tensor_of = {row: torch.outer(*key).flatten() for row, key in key_of.items()}
        held = {(arrow.sentence, arrow.operation): arrow for arrow in sentence.held}
        for row, key in key_of.items():
            node, cosine, strength = nearest(torch.einsum("e,r,erf->f", *key, memory))
            strength /= float((tensor_of[row] ** 2).sum())
            if row in held:
                arrow = held[row]
                assert arrow.target == node
                assert arrow.cosine == pytest.approx(cosine, abs=1e-9)
                assert arrow.strength == pytest.approx(strength, abs=1e-9)
                assert abs(cosine) >= MAJORITY
                assert abs(strength) >= 0.5
                shares = torch.einsum("e,r,serf->sf", *key, told_by) @ torch.einsum(
                    "e,r,erf->f", *key, memory
                )
                assert arrow.told_by == int(shares.argmax())
            elif abs(cosine) >= MAJORITY and abs(strength) >= 0.5:
                later = told[told.index(row) + 1 :]
                assert any(
                    torch.cosine_similarity(tensor_of[row], tensor_of[other], dim=0) > 0.4
                    for other in later
                ), f"{row} is missing"

    asked = model.question_parts(reader.words([found.question.text]))
    changes, _ = sequential(whole, operations=operations)
    entity, logits = asked["n"][0], 0
    for number, step in enumerate(found.question.steps, start=1):
        relation = asked[f"l{number}"][0]
        retrieved = torch.einsum("e,r,erf->f", entity, relation, memory)
        assert_like(step.retrieved, retrieved)
        from_rows = torch.zeros(4, dtype=torch.float64)
        for row in step.rows:
            source, name = (said[part][row.sentence] for part in KEYS[row.operation])
            assert row.weight == pytest.approx(float((source @ entity) * (name @ relation)))
            change = changes[0, row.sentence, operations.index(row.operation)]
            assert row.share == pytest.approx(
                float(row.weight * change @ retrieved / (retrieved @ retrieved))
            )
            from_rows += row.weight * change
        from_told = torch.zeros(4, dtype=torch.float64)
        for origin in step.origins:
            content = said[origin.part][origin.sentence]
            assert origin.node == found.sentences[origin.sentence].parts[origin.part].group
            assert origin.share == pytest.approx(
                float(origin.weight * content @ retrieved / (retrieved @ retrieved))
            )
            from_told += origin.weight * content
        torch.testing.assert_close(from_rows, retrieved, rtol=0, atol=1e-10)
        torch.testing.assert_close(from_told, retrieved, rtol=0, atol=1e-10)
        scale, shift = model.norm.scale[number - 1], model.norm.shift[number - 1]
        entity = scalar_layer_norm(retrieved, scale, shift)
        alone = entity @ model.output
        logits = logits + alone
        best, rival = (reader.vocabulary.number(a.word) for a in found.question.answers[:2])
        assert step.margin == pytest.approx(float(alone[best] - alone[rival]))
        assert step.answers[0].probability == pytest.approx(float(alone[1:].softmax(0).max()))
    assert found.question.margin == pytest.approx(float(logits[best] - logits[rival]))
    expected = reader.answer(story, found.question.text)
    assert [a.word for a in found.question.answers] == [a.word for a in expected]
    assert found.question.answers[0].probability == pytest.approx(expected[0].probability)
    for t, answer in enumerate(found.question.leave_one_out):
        other = reader.answer(story[:t] + story[t + 1 :], found.question.text)[0]
        assert (answer.word, answer.probability) == (other.word, pytest.approx(other.probability))
    assert len(found.question.leave_one_out) == len(story)
    for t, answer in enumerate(found.question.over_time):
        earlier = reader.answer(story[: t + 1], found.question.text)[0]
        assert answer.word == earlier.word
        assert answer.probability == pytest.approx(earlier.probability)
    assert len(found.question.over_time) == len(story)


def test_one_thing_is_one_node_in_however_many_directions_it_is_told() -> None:
    reader = handmade_reader()
    with torch.no_grad():  # where nothing but John is told of, he is e2 too, in a direction of e2
        reader.model.update.entity_weight[1, reader.vocabulary.number("john"), -1] = GAIN
    told = ["Mary went to the kitchen.", "John is."]
    found = trace(reader, told, "Where is John?")
    with torch.no_grad():
        things = things_of(reader, told, said_by(reader, told), found)
    assert [node for node, _ in things] == [0, 1, 2, 2]
    assert [group.name.text for group in found.nodes] == ["mary", "kitchen", "john"]
    assert found.nodes[2].members == ((1, "e1"), (1, "e2"))
    assert found.question.steps[0].retrieved.name == "john"


def test_a_memory_that_blows_up_is_no_trace_but_an_error() -> None:
    reader = random_reader(("write", "move", "backlink"))
    reader.model.float()
    with torch.no_grad():
        for weight in (reader.model.update.entity_weight, reader.model.update.relation_weight):
            weight *= 100
    plain = trace(reader, RANDOM_STORY, "Where is John?").as_json()
    assert "NaN" not in json.dumps(plain)
    with pytest.raises(UserError, match="grows beyond all numbers within these 120 sentences"):
        trace(reader, 20 * RANDOM_STORY)
