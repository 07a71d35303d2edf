import pytest
import torch

from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.reader import Reader

WORDS = ["mary", "went", "home", ".", "where", "is", "?", "john"]


@pytest.fixture
def reader() -> Reader:
    vocabulary = Vocabulary(WORDS)
    config = TPRRNNConfig(
        vocabulary_size=len(vocabulary), max_words=4, operations=("write",), embedding_scale=1.0
    )
    return Reader(TPRRNN(config, generator=torch.Generator().manual_seed(0)), vocabulary)


def test_answers_are_probabilities_best_first(reader) -> None:
    answers = reader.answer(["Mary went home."], "Where is Mary?", top=99)
    assert len(answers) == len(reader.vocabulary) - 1  # all but the padding
    assert sum(answer.probability for answer in answers) == pytest.approx(1, abs=1e-5)
    assert answers == sorted(answers, key=lambda answer: -answer.probability)
    assert reader.answer(["Mary went home."], "Where is Mary?", top=2) == answers[:2]


def test_the_padding_is_never_an_answer(reader) -> None:
    with torch.no_grad():
        reader.model.output.zero_()
        reader.model.output[:, 0] = 9.0
        reader.model.norm.shift.fill_(1.0)
    answers = reader.answer(["Mary went home."], "Where is Mary?", top=99)
    assert "<pad>" not in [answer.word for answer in answers]
    assert answers[0].probability == pytest.approx(1 / len(answers))


def test_a_missing_mark_at_the_end_does_not_matter(reader) -> None:
    marked = reader.answer(["Mary went home."], "Where is Mary?")
    assert reader.answer(["mary went home"], "where is mary") == marked


def test_only_the_last_sentences_count(reader) -> None:
    short = Reader(reader.model, reader.vocabulary, max_sentences=1)
    told = ["John went home.", "Mary went home."]
    assert short.answer(told, "Where is Mary?") == reader.answer(told[1:], "Where is Mary?")


def test_answers_are_without_dropout_whatever_was_done_before(reader) -> None:
    question = ["Mary went home."], "Where is Mary?"
    expected = reader.answer(*question)
    reader.model.train()
    assert reader.answer(*question) == expected


def test_a_question_may_come_before_any_sentence(reader) -> None:
    assert reader.answer([], "Where is Mary?")


@pytest.mark.parametrize(
    ("story", "question", "message"),
    [
        (["Marry went home."], "Where is Mary?", r"'marry' \(did you mean mary\?\)"),
        (["Bill went home."], "Where is the bill?", "the words 'bill', 'the'"),
        (["Mary went home home home."], "Where is Mary?", "has 6 words"),
        (["Mary went home."], "", "has 0 words"),
    ],
)
def test_what_the_model_cannot_read_is_named(reader, story, question, message) -> None:
    with pytest.raises(UserError, match=message):
        reader.answer(story, question)


def test_what_is_saved_is_loaded(reader, tmp_path) -> None:
    reader.save(tmp_path / "model.safetensors")
    for place in (tmp_path, tmp_path / "model.safetensors", str(tmp_path)):
        loaded = Reader.load(place)
        assert loaded.vocabulary == reader.vocabulary
        assert loaded.model.config == reader.model.config
        question = ["Mary went home."], "Where is Mary?"
        assert loaded.answer(*question) == reader.answer(*question)


def test_what_is_no_model_is_named(tmp_path) -> None:
    with pytest.raises(UserError, match=r"model.safetensors: no such file"):
        Reader.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not a model")
    with pytest.raises(UserError, match=r"model.safetensors: damaged, or no safetensors file"):
        Reader.load(tmp_path)
