"""The explanation says in English what a trace holds, and the picture draws it."""

import re
from dataclasses import replace

import pytest
import torch

from analysis.handmade import ENTITIES, GAIN, handmade_reader
from tpr_rnn.analysis.explanation import explain, node_name, reasons
from tpr_rnn.analysis.graph_picture import _columns, draw_memory
from tpr_rnn.analysis.naming import Name
from tpr_rnn.analysis.schema import Answer, Origin
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


def test_it_says_what_each_step_found_and_where_that_was_told(reader) -> None:
    lines = list(explain(trace(reader, STORY, "Where is Mary?"), full=True))
    assert lines[0] == 'Why "office"?'
    assert lines[1] == '  Mary went to the office (3): "office".'
    assert lines[2].startswith('  With sentence 3 alone it is "office" (')
    assert lines[3] == '  Without sentence 3 it would be "kitchen".'
    assert lines[4] == "  1. From mary the memory leads to office."
    assert lines[5] == "     100% told by 3: Mary went to the office."
    assert lines[6].startswith('     By itself this step would answer "office" (')
    assert "  2. From office the memory leads to nothing." in lines
    assert any(line.startswith('  For "office" and not "') for line in lines)
    assert "  mary -> office (100%, 3), earlier kitchen (100%, 1)" in lines
    assert "  garden -> john (100%, 2)" in lines
    assert max(map(len, lines)) <= 80


def test_the_chain_is_what_the_steps_found_there_and_back(reader) -> None:
    found = trace(reader, STORY, "Where is Mary?")
    numbers = {group.name.text: number for number, group in enumerate(found.nodes)}
    first = found.question.steps[0]

    def chain(*names: str) -> str:
        steps = [
            replace(first, retrieved=replace(first.retrieved, node=numbers[name])) for name in names
        ]
        return reasons(found, replace(found.question, steps=tuple(steps))).chain

    assert chain("office", "mary", "office") == "mary → office → mary → office"
    assert chain("mary", "office", "office") == "mary → office"


def test_the_short_form_is_the_beginning_of_the_full_one(reader) -> None:
    found = trace(reader, STORY, "Where is Mary?")
    assert list(explain(found)) == list(explain(found, full=True))[:2]


def test_it_says_what_the_answer_does_without(reader) -> None:
    found = trace(reader, [STORY[0], *STORY[:2]], "Where is Mary?", supports=[1])
    said = list(explain(found))
    assert said[1] == '  Mary went to the kitchen (2): "kitchen".'
    assert said[2] == '  It would answer "kitchen" without it too.'

    def spare(sentences, without, unused):
        basis = replace(found.question.basis, sentences=sentences, unused=unused)
        basis = replace(basis, without=Answer(*without))
        return reasons(found, replace(found.question, basis=basis)).spare

    assert spare((1, 2), ("kitchen", 0.6), ()) == (
        'It would answer "kitchen" (60%) without them too.'
    )
    assert spare((1,), ("garden", 1.0), ()) == ""
    assert spare((1, 2), ("garden", 1.0), (2,)) == "It finds sentence 3 but does not need it."
    assert spare((1,), ("garden", 1.0), (0, 2)) == "It does not use sentences 1 and 3."
    assert spare((1,), ("kitchen", 1.0), (0, 1)) == (
        'It would answer "kitchen" without it too. It does not use sentence 1.'
    )
    assert spare((), ("garden", 1.0), tuple(range(8))) == (
        "It does not use sentences 1, 2, 3, 4, 5, 6 and 2 others."
    )


def test_of_a_word_level_model_the_words_are_quoted(reader) -> None:
    found = replace(trace(reader, STORY, "Where is Mary?"), unit="word")
    words = [replace(told, tokens=("mary", word)) for told, word in zip(
        found.sentences, ("went", "to", "office"), strict=True
    )]  # fmt: skip
    found = replace(found, sentences=tuple(words))
    for sentences, said in (((2, 0), 'The words "went" (1) and "office" (3): "office".'),
                            ((1,), 'The word "to" (2): "office".')):  # fmt: skip
        basis = replace(found.question.basis, sentences=sentences)
        assert reasons(found, replace(found.question, basis=basis)).short == said


def test_what_nothing_told_is_said_to_be_unknown(reader) -> None:
    found = trace(reader, STORY, "Where is Mary?")
    unknown = Answer("unknown", 0.98)
    basis = replace(found.question.basis, without=unknown)
    asked = replace(found.question, answers=(unknown, Answer("no", 0.01)), basis=basis)
    why = reasons(found, asked)
    assert (why.short, why.spare) == ('It finds no answer in the story: "unknown".', "")
    why = reasons(found, replace(asked, basis=replace(basis, without=Answer("office", 1.0))))
    assert why.short == 'Mary went to the office (3): "unknown".'


def test_what_is_new_or_never_mentioned_is_named(reader) -> None:
    found = trace(reader, STORY[:1], "Where is John?")
    assert found.question.not_told == ("john",)
    said = list(explain(found))
    assert said[-1] == '  The story does not mention "john".'
    new = replace(found, new_words={"alice": "name", "shed": "place", "bob": "name"})
    assert reasons(new, found.question).doubt == (
        'The story does not mention "john". New words: it takes "alice" and "bob" for names and '
        '"shed" for a place.'
    )
    unknown = (Answer("unknown", 0.98), Answer("no", 0.01))
    why = reasons(found, replace(found.question, answers=unknown))
    assert why.short == 'It finds no answer in the story: "unknown".'


def test_an_answer_in_doubt_says_how_sure_it_is(reader) -> None:
    found = trace(reader, STORY, "Where is Mary?")
    answers = (Answer("office", 0.6), Answer("garden", 0.3))
    why = reasons(found, replace(found.question, answers=answers))
    assert why.short == 'Mary went to the office (3): "office" (60%) or "garden" (30%).'


def test_sentences_keep_their_numbers_when_the_first_are_not_read(reader) -> None:
    short = Reader(reader.model, reader.vocabulary, max_sentences=2)
    lines = list(explain(trace(short, STORY, "Where is John?"), full=True))
    assert "     100% told by 2: John went to the garden." in lines
    assert "  john -> garden (100%, 2)" in lines


def test_the_steps_that_speak_against_an_answer_are_named(reader) -> None:
    with torch.no_grad():
        reader.model.norm.shift[1] = 1.0  # step 2 finds nothing and gives a constant
        reader.model.output[:, reader.vocabulary.number("garden")] += 0.5
    found = trace(reader, STORY, "Where is Mary?")
    lead = reasons(found, found.question).lead
    assert lead.startswith('For "office" and not "garden" speaks step 1 (')
    assert ", against it step 2 (" in lead
    assert sum(map(int, re.findall(r"(\d+)%", lead))) in (99, 100, 101)


def test_what_only_resembles_a_node_is_called_so(reader) -> None:
    found = trace(reader, STORY, "Where is Mary?")
    first, *later = found.question.steps
    (kitchen,) = (n for n, group in enumerate(found.nodes) if group.name.text == "kitchen")
    for weight in (1.0, -1.0):
        step = replace(
            first,
            retrieved=replace(first.retrieved, node=kitchen, cosine=0.5),
            origins=(Origin(0, "e2", kitchen, weight, 1.0),),
        )
        asked = replace(found.question, steps=(step, *later))
        assert reasons(found, asked).steps[0].name == "something like kitchen"


def test_what_the_memory_holds_the_opposite_of_is_called_so(reader) -> None:
    found = trace(reader, STORY)
    last = found.sentences[-1]
    held = tuple(replace(arrow, strength=-0.6) for arrow in last.held)
    turned = replace(found, sentences=(*found.sentences[:-1], replace(last, held=held)))
    assert "  garden -> the opposite of john (60%, 2)" in list(explain(turned, full=True))


def test_a_mixture_is_called_so(reader) -> None:
    where = reader.vocabulary.number("where")
    with torch.no_grad():  # asks from mary and john, for where they are and where they were
        reader.model.inference.entity_weight[0, where, ENTITIES.index("john")] = GAIN
        reader.model.inference.relation_weight[0, where, 1] = GAIN / 2
    lines = list(explain(trace(reader, STORY, "Where is Mary?"), full=True))
    (first,) = (line for line in lines if line.startswith("  1."))
    found = first.removeprefix("  1. From where mary the memory leads to ").removesuffix(".")
    assert sorted(found.split(" + ")[:2]) == ["garden", "office"]
    assert found.split(" + ")[2] == "kitchen"
    assert any(line.endswith("% told by 1: Mary went to the kitchen.") for line in lines)


def test_what_is_taken_away_in_a_mixture_has_a_minus(reader) -> None:
    where = reader.vocabulary.number("where")
    with torch.no_grad():  # asks from mary without john, for where they are and where they were
        reader.model.inference.entity_weight[0, where, ENTITIES.index("john")] = -GAIN
        reader.model.inference.relation_weight[0, where, 1] = GAIN / 2
    lines = list(explain(trace(reader, STORY, "Where is Mary?"), full=True))
    (first,) = (line for line in lines if line.startswith("  1."))
    # Its first is not the opposite of anything.
    assert "leads to garden - office - kitchen (with a" in first


def test_the_sign_of_an_entity_is_told_apart_from_its_name(reader) -> None:
    with torch.no_grad():  # asks for less than nothing of where mary is
        reader.model.inference.relation_weight[0, reader.vocabulary.number("is"), 0] = -GAIN
    lines = list(explain(trace(reader, STORY, "Where is Mary?"), full=True))
    assert "  1. From mary the memory leads to office (with a minus)." in lines


def test_an_entity_without_a_name_is_no_mixture(reader) -> None:
    found = trace(reader, STORY, "Where is Mary?")
    nodes = tuple(replace(node, name=Name("", 0.0)) for node in found.nodes)
    lines = list(explain(replace(found, nodes=nodes), full=True))
    assert "  1. From mary the memory leads to [e2 of 3]." in lines


def test_no_story_is_no_reason(reader) -> None:
    lines = list(explain(trace(reader, [], "Where is Mary?")))
    assert lines[1:] == ["  Nothing was told, so this is a guess."]
    assert list(explain(trace(reader, []))) == []


def test_an_answer_that_needs_no_sentence_says_so(reader) -> None:
    lines = list(explain(trace(reader, [STORY[0], STORY[0]], "Where is Mary?"), full=True))
    assert '  Without any one of the sentences it would still be "kitchen".' in lines


def test_a_node_without_a_name_is_called_by_its_place(reader) -> None:
    found = trace(reader, STORY)
    names = ["mary", "kitchen", "john", "", "office"]
    nodes = tuple(
        replace(node, name=Name(name, 1.0)) for node, name in zip(found.nodes, names, strict=True)
    )
    found = replace(found, nodes=nodes)
    assert [node_name(found, node) for node in range(5)] == [
        "mary",
        "kitchen",
        "john",
        "[e2 of 2]",
        "office",
    ]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_picture_of_a_story_is_always_the_same(reader, tmp_path, suffix) -> None:
    files = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for file in files:
        draw_memory(trace(reader, STORY, "Where is Mary?"), file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_picture_of_an_empty_memory_can_be_drawn(reader, tmp_path) -> None:
    draw_memory(trace(reader, []), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").exists()


def test_what_leads_to_itself_is_told_in_its_box(reader, tmp_path) -> None:
    found = trace(reader, STORY[:1], operations=["write"])
    (held,) = found.sentences[-1].held
    loop = replace(held, target=held.source, strength=-0.5)
    sentence = replace(found.sentences[-1], held=(held, loop))
    draw_memory(replace(found, sentences=(sentence,)), tmp_path / "loop.svg")
    assert "to itself: not 1" in (tmp_path / "loop.svg").read_text("utf-8")


def test_neighbours_in_the_picture_stand_beside_each_other(reader) -> None:
    swapped = ["Mary went to the garden.", "John went to the kitchen."]
    found = trace(reader, [*STORY[:2], *swapped], operations=["write"])
    left, right = _columns(found, list(found.sentences[-1].held))
    places = {"mary": "garden", "john": "kitchen"}
    assert [places[node_name(found, node)] for node in left] == [
        node_name(found, node) for node in right
    ]


def test_a_picture_that_cannot_be_written_is_named(reader, tmp_path) -> None:
    with pytest.raises(UserError, match=r"g\.jpg: a picture's name ends in \.png"):
        draw_memory(trace(reader, STORY), tmp_path / "g.jpg")
    with pytest.raises(UserError, match="cannot be written"):
        draw_memory(trace(reader, STORY), tmp_path / "nowhere" / "g.png")
