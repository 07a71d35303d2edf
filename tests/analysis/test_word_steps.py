"""The trace of a word-level model: its steps are words, and its numbers those of the model."""

from dataclasses import replace

import pytest
import torch

from tpr_rnn.analysis.explanation import explain
from tpr_rnn.analysis.representations import analyze
from tpr_rnn.analysis.steps import follow, texts_of_steps
from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import Vocabulary, tokenize
from tpr_rnn.data.word_stream import WordStream
from tpr_rnn.memory import densify
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.word_level import WordLevel, WordLevelConfig
from tpr_rnn.report.representations import representations_page

STORY = ["Mary went home.", "John left.", "Mary left home."]
QUESTION = "Where is Mary?"
WORDS = [word for text in (*STORY, QUESTION) for word in tokenize(text)]


@pytest.fixture(scope="module")
def reader() -> Reader:
    vocabulary = Vocabulary(WORDS)
    config = WordLevelConfig(vocabulary_size=len(vocabulary), max_words=4, hidden_size=12)
    return Reader(WordLevel(config, generator=torch.Generator().manual_seed(1)), vocabulary)


def logits(reader: Reader, words: list[str]) -> torch.Tensor:
    """Those of the answer after some words, by the model itself."""
    numbers = torch.tensor([[reader.vocabulary.number(word) for word in words]])
    length, one = torch.tensor([len(words)]), torch.tensor([0])
    none = torch.zeros_like(numbers, dtype=torch.bool)
    return reader.model.logits(
        reader.model.read(WordStream(numbers, length, one, length - 1, none, none)).found
    )[0]


def test_every_word_of_the_story_and_of_the_question_is_a_step(reader) -> None:
    found = trace(reader, STORY, QUESTION)
    assert found.unit == "word"
    assert [step.tokens[-1] for step in found.sentences] == WORDS
    assert found.sentences[5].text == "john [left] ."
    assert found.sentences[5].tokens == ("john", "left")
    assert [step.line for step in found.sentences] == [0] * 4 + [1] * 3 + [2] * 4 + [3] * 4
    assert len(trace(reader, STORY).sentences) == len(WORDS) - 4
    last = replace(reader, max_sentences=1)
    assert [step.line for step in trace(last, STORY, QUESTION).sentences] == [2] * 4 + [3] * 4


def test_answers_are_those_of_the_model(reader) -> None:
    found = trace(reader, STORY, QUESTION)
    expected = reader.answer(STORY, QUESTION)
    got = [(answer.word, pytest.approx(answer.probability)) for answer in found.question.answers]
    assert [(answer.word, answer.probability) for answer in expected] == got


@torch.no_grad()
def test_words_are_left_out_and_questions_asked_earlier_as_if_so_told(reader) -> None:
    walk = follow(reader, STORY, QUESTION).walk
    asked = WORDS[-4:]
    for step in range(len(WORDS)):
        without = logits(reader, WORDS[:step] + WORDS[step + 1 :])
        torch.testing.assert_close(walk.left_out[step], without)
        earlier = WORDS[: step + 1] + asked if step < len(WORDS) - 4 else WORDS
        torch.testing.assert_close(walk.earlier[step], logits(reader, earlier))


@torch.no_grad()
def test_a_word_counts_by_how_far_the_average_word_in_its_place_turns_a_vector(reader) -> None:
    steps = follow(reader, STORY, QUESTION)
    model = reader.model
    vectors = model.word_vectors[[reader.vocabulary.number(word) for word in WORDS]].clone()
    before = model.lstm(vectors.unsqueeze(0))[0]
    vectors[5] = model.word_vectors.mean(dim=0)  # "left" in "John left."
    after = model.lstm(vectors.unsqueeze(0))[0]
    for name in steps.said:
        old, new = (
            model.said_by_name(model.said(states))[name][0, 6] for states in (before, after)
        )
        turn = 1 - torch.cosine_similarity(old, new, dim=0)
        assert steps.turned[name][6][1] == pytest.approx(float(turn), abs=1e-5)
    assert {len(shares) for shares in steps.walk.turned.values()} == {4}


@torch.no_grad()
def test_the_memory_is_that_of_all_words(reader) -> None:
    steps = follow(reader, STORY, QUESTION)
    memory = torch.zeros_like(densify(steps.memory).tensor[0])
    for t in range(len(WORDS)):
        e1, e2, r1, r2, r3 = (steps.said[name][t] for name in ("e1", "e2", "r1", "r2", "r3"))
        keys = [torch.outer(*key) for key in ((e1, r1), (e1, r2), (e2, r3))]
        w, m, b = (torch.einsum("er,erf->f", key, memory) for key in keys)
        for key, change in zip(keys, (e2 - w, w - m, e1 - b), strict=True):
            memory = memory + key.unsqueeze(2) * change
    torch.testing.assert_close(densify(steps.memory).tensor[0], memory)


def test_reasons_speak_of_words(reader) -> None:
    text = "\n".join(explain(trace(reader, STORY, QUESTION), full=True))
    assert "the word that told most of it" in text
    assert "sentence" not in text


def test_a_story_without_sentences_can_be_asked_about(reader) -> None:
    assert len(trace(reader, [], QUESTION).sentences) == 4


def test_a_long_story_is_read_in_parts(reader, monkeypatch) -> None:
    whole = follow(reader, STORY, QUESTION)
    monkeypatch.setattr("tpr_rnn.analysis.steps.AT_A_TIME", 3)
    parts = follow(reader, STORY, QUESTION)
    torch.testing.assert_close(parts.walk.left_out, whole.walk.left_out)
    for name, shares in whole.turned.items():
        assert parts.turned[name] == [pytest.approx(each, abs=1e-6) for each in shares]


@torch.no_grad()
def test_texts_are_represented_as_read_by_themselves_to_their_last_words(reader) -> None:
    said = reader.model.sentence_parts(reader.words(STORY))
    for row, text in enumerate(STORY):
        alone = follow(reader, [text], None)
        for name, vectors in alone.said.items():
            torch.testing.assert_close(said[name][row], vectors[-1])
    asked = reader.model.question_parts(reader.words([QUESTION]))
    for name, vectors in follow(reader, [], QUESTION).walk.parts.items():
        torch.testing.assert_close(asked[name], vectors)


def test_the_steps_of_sentences_are_their_beginnings(reader) -> None:
    assert texts_of_steps(reader, ["John left.", "John sat."]) == [
        "john",
        "john left",
        "john left .",
        "john sat",
        "john sat .",
    ]


def test_its_representations_are_analysed(reader, tmp_path) -> None:
    answer = reader.answer(STORY, QUESTION)[0].word  # right, so that its explanation is judged
    story = Story(tuple(STORY), (Question(QUESTION, answer, 3, (2,)),))
    report = analyze(reader, {"1": [story]}, tmp_path, sample=4, seed=0)
    assert report["unit"] == "word"
    assert report["sentences"]["texts"] == 3
    assert report["faithfulness"]["named"]["e1"] >= 0
    assert set(report["faithfulness"]["explanations"]) == {"1"}
    page = representations_page(report | {"tasks": ["1"], "data": "made up", "split": "valid"})
    assert "those after its\nlast word" in page
