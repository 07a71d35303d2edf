import pytest
import torch

from data.wide_reading import answer
from tpr_rnn.data.encoding import build_vocabulary, longest_sentence
from tpr_rnn.data.simulator import TASK_TITLES, tell
from tpr_rnn.data.simulator.wide import suite as suite_module
from tpr_rnn.data.simulator.wide.suite import VARIATIONS, suite
from tpr_rnn.data.simulator.wide.words import UNKNOWN
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.wide import wide_errors
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.models.reader import Reader


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of few questions."""
    monkeypatch.setattr(suite_module, "QUESTIONS", 6)
    monkeypatch.setattr(suite_module, "STORIES", 20)


def anything(word: str) -> bool:
    return True


@pytest.mark.usefixtures("small")
def test_the_suite_asks_every_kind_of_question_and_its_answers_follow_from_the_text() -> None:
    kinds = suite(anything)
    assert {*VARIATIONS} < {*kinds}
    for story in (story for told in kinds.values() for story in told):
        for question in story.questions[:2]:
            found = answer(story.sentences[: question.after], question.text)
            assert found == question.answer.lower()
    unknown = [told for kind, told in kinds.items() if kind.startswith("unknown")]
    asked = [question for told in unknown for story in told for question in story.questions]
    assert {question.answer for question in asked} == {UNKNOWN}
    assert all(len(story.sentences) >= 200 for story in kinds["200 sentences"])


@pytest.mark.usefixtures("small")
def test_the_suite_is_the_same_again_and_another_one_with_another_seed() -> None:
    assert suite(anything) == suite(anything)
    assert suite(anything)["sizes"] != suite(anything, seed=1)["sizes"]


@pytest.mark.usefixtures("small")
def test_a_model_is_asked_in_its_own_words() -> None:
    told = [
        story for task in TASK_TITLES for story in [tell(task, seed=seed) for seed in range(30)]
    ]
    vocabulary = build_vocabulary(told)
    errors = wide_errors(Reader(says("yes", vocabulary, longest_sentence(told)), vocabulary))
    assert "all words new" not in errors.per_part
    assert errors.per_part["unknown: not in the story"].error == 100
    assert errors.measures["unknown_found"] == errors.measures["unknown_wrongly"] == 0


@pytest.mark.usefixtures("small")
def test_a_model_of_other_words_is_not_asked_at_all() -> None:
    vocabulary = Vocabulary(["ann", "sailed", "home"])
    with pytest.raises(UserError, match="knows the words of no kind of wide question; train"):
        wide_errors(Reader(says("ann", vocabulary, 5), vocabulary))


@pytest.mark.usefixtures("small")
def test_errors_are_counted_by_kind() -> None:
    told = [story for stories in suite(anything).values() for story in stories]
    vocabulary = build_vocabulary([*told, Story((), ())])
    reader = Reader(says(UNKNOWN, vocabulary, longest_sentence(told)), vocabulary, 300)
    errors = wide_errors(reader)
    assert errors.per_part["unknown: not told"].error == 0
    assert errors.per_part["sizes"].error == 100
    assert errors.measures["unknown_found"] == errors.measures["unknown_wrongly"] == 100


def says(word: str, vocabulary: Vocabulary, words: int) -> TPRRNN:
    """A model that always answers the same."""
    model = TPRRNN(
        TPRRNNConfig(vocabulary_size=len(vocabulary), max_words=words, entity_size=2, hidden_size=2)
    )
    with torch.no_grad():
        model.output.zero_()
    original = model.logits

    def logits(found: torch.Tensor) -> torch.Tensor:
        scores = original(found)
        scores[:, vocabulary.number(word)] = 1.0
        return scores

    model.logits = logits  # type: ignore[method-assign]
    return model
