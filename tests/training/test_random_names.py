"""Names that the model has never heard: drawn for a batch, gone after it."""

import numpy as np
import pytest
import torch

from tpr_rnn.data.batches import make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.names import names_in
from tpr_rnn.data.story import Question, Story
from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.models import TPRRNN, TPRRNNConfig
from tpr_rnn.training.random_names import NO_ANSWER, SCALE, RandomNames
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.trainer import Trainer

STORIES = [
    Story(
        (f"{giver} gave the milk to {taker}.", f"{giver} went to the {place}."),
        (
            Question(f"Where is {giver}?", place, 2),
            Question(f"Who gave the milk to {taker}?", giver.lower(), 2),
        ),
    )
    for giver, taker in (("Mary", "John"), ("John", "Fred"), ("Fred", "Mary"))
    for place in ("kitchen", "garden", "office")
]
VOCABULARY = build_vocabulary(STORIES)
WORDS = longest_sentence(STORIES)
DATA = encode({"5": STORIES}, VOCABULARY, WORDS)
DARK = Vocabulary(("is", "it", "dark", ".", "?", "yes"))
NAMES = [VOCABULARY.number(name) for name in ("fred", "john", "mary")]
OTHERS = [number for number in range(len(VOCABULARY)) if number not in NAMES]


def make_trainer(**settings) -> Trainer:
    plain = {"batch_size": 6, "epochs": 4, "warmup_steps": 2, "beta1": 0.9, "beta2": 0.999}
    config = TPRRNNConfig(
        vocabulary_size=len(VOCABULARY), max_words=WORDS, bounded_keys=True, embedding_scale=0.1
    )
    return Trainer(config, Recipe(**plain | settings), train=DATA, valid=DATA, seed=3)


def vectors(trainer: Trainer) -> torch.Tensor:
    return trainer.model.encoder.word_vectors.detach().clone()


def meeting() -> tuple[RandomNames, torch.nn.Parameter]:
    parameter = torch.nn.Parameter(torch.zeros(len(VOCABULARY), 5))
    return RandomNames(parameter, torch.tensor(NAMES)), parameter


def test_names_are_what_a_question_writes_with_a_capital_inside() -> None:
    asked = [
        "Where is Mary?",
        "Did Bill give it to Fred?",
        "Where was the milk?",
        "Is",
        "Who is Jean-Luc?",
    ]
    assert names_in(asked) == {"mary", "bill", "fred", "jean-luc"}
    assert DATA.names.tolist() == sorted(NAMES)


def test_names_have_other_vectors_while_random_names_are_met_and_their_own_afterwards() -> None:
    random_names, parameter = meeting()
    random_names.settle(torch.Generator().manual_seed(0))
    own = parameter.detach().clone()
    assert (own[NAMES] != 0).all()
    assert (own[NAMES].abs() <= SCALE).all()
    assert (own[OTHERS] == 0).all()
    drawn = []
    for _ in range(2):
        with random_names.met(make_batch(DATA, np.arange(4))):
            drawn.append(parameter.detach().clone())
        assert torch.equal(parameter, own)
    assert (drawn[0][NAMES] != drawn[1][NAMES]).all()
    assert (drawn[0][NAMES] != own[NAMES]).all()
    assert torch.equal(drawn[0][OTHERS], own[OTHERS])


def test_names_are_their_own_again_after_an_error() -> None:
    random_names, parameter = meeting()
    with pytest.raises(ZeroDivisionError), random_names.met(make_batch(DATA, np.arange(4))):
        raise ZeroDivisionError
    assert (parameter == 0).all()


def test_the_name_of_a_stranger_is_not_asked_for() -> None:
    random_names, parameter = meeting()
    batch = make_batch(DATA, np.arange(4))
    with random_names.met(batch) as told:
        assert told.answer[1::2].tolist() == [NO_ANSWER] * 2
        assert torch.equal(told.answer[::2], batch.answer[::2])
    only_names = make_batch(DATA, np.array([1, 3]))
    with random_names.met(only_names) as told:  # so that the loss is one of something
        assert torch.equal(told.answer, only_names.answer)
        assert (parameter == 0).all()


def test_names_stay_as_they_were_drawn_and_other_words_are_trained() -> None:
    trainer = make_trainer(random_name_share=0.5)
    before = vectors(trainer)
    list(trainer.run())
    assert torch.equal(vectors(trainer)[NAMES], before[NAMES])
    assert (vectors(trainer)[OTHERS] != before[OTHERS]).any()


def test_without_random_names_names_are_words_like_others() -> None:
    trainer = make_trainer()
    before = vectors(trainer)
    list(trainer.run())
    assert (vectors(trainer)[NAMES] != before[NAMES]).all()


def batches_with_random_names(monkeypatch, **settings) -> list[int]:
    """How many of the 18 batches of each epoch, of four."""
    steps = []
    real = RandomNames.met

    def noted(self, batch, answers):
        steps.append(trainer.progress.step)
        return real(self, batch, answers)

    monkeypatch.setattr(RandomNames, "met", noted)
    trainer = make_trainer(batch_size=1, warmup_steps=0, **settings)
    list(trainer.run())
    return np.bincount([step // 18 for step in steps], minlength=4).tolist()


def test_random_names_come_in_their_share_of_the_batches(monkeypatch) -> None:
    assert batches_with_random_names(monkeypatch) == [0] * 4
    assert batches_with_random_names(monkeypatch, random_name_share=1.0) == [18] * 4
    assert 18 < sum(batches_with_random_names(monkeypatch, random_name_share=0.5)) < 54


def test_random_names_are_rarer_as_the_rate_decays(monkeypatch) -> None:
    met = batches_with_random_names(monkeypatch, random_name_share=1.0, epochs=4, decay_epochs=3)
    assert met[0] == 18
    assert met == sorted(met, reverse=True)
    assert met[3] < 9 < met[1]


def test_random_names_may_wait_for_the_decay(monkeypatch) -> None:
    met = batches_with_random_names(
        monkeypatch, random_name_share=1.0, epochs=4, decay_epochs=2, regularize_in_decay=True
    )
    assert met[:2] == [0, 0]
    assert met[2] > met[3]


def test_what_random_names_get_wrong_does_not_count_as_error() -> None:
    trainer = make_trainer(random_name_share=1.0, error_weighted_share=0.5, batch_size=18, epochs=1)
    next(iter(trainer.run()))
    assert trainer.progress.train_asked == {}


def test_a_resumed_run_meets_the_same_random_names() -> None:
    whole = make_trainer(random_name_share=0.5)
    list(whole.run())
    first = make_trainer(random_name_share=0.5)
    events = first.run()
    for _ in range(5):
        next(events)
    second = make_trainer(random_name_share=0.5)
    second.restore(first.progress, {name: x.clone() for name, x in first.tensors().items()})
    list(second.run())
    assert torch.equal(vectors(whole), vectors(second))


def test_without_names_there_are_no_random_names() -> None:
    nameless = encode(
        {"4": [Story(("It is dark.",), (Question("Is it dark?", "yes", 1),))]}, DARK, 4
    )
    config = TPRRNNConfig(vocabulary_size=len(DARK), max_words=4)
    with pytest.raises(UserError, match="random names need names"):
        Trainer(config, Recipe(random_name_share=0.5), train=nameless, valid=nameless, seed=0)


def test_a_model_without_word_vectors_has_no_random_names(monkeypatch) -> None:
    monkeypatch.setattr(TPRRNN, "word_vectors", None)
    with pytest.raises(UserError, match=r"a vector for each word .* which TPRRNN has not"):
        make_trainer(random_name_share=0.5)
    make_trainer()


def test_the_share_is_checked() -> None:
    with pytest.raises(UserError, match=r"random_name_share must be from 0 to 1, not 1\.5"):
        Recipe(random_name_share=1.5)
