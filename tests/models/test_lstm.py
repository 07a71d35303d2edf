"""The LSTM readers: they read what they should read, and nothing else."""

import numpy as np
import pytest
import torch

from models import words
from tpr_rnn.data.batches import make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError
from tpr_rnn.models.lstm import LSTMReader, LSTMReaderConfig, WordLSTM, WordLSTMConfig
from tpr_rnn.models.registry import make_model as make_architecture

STORIES = [
    Story(
        ("Mary went home.", "John left.", "Mary left.")[:told],
        (Question(f"Where is {name}?", "home", told),),
    )
    for told in (0, 1, 2, 3)
    for name in ("Mary", "John")
]
VOCABULARY = build_vocabulary(STORIES)
WORDS = longest_sentence(STORIES)
DATA = encode({"1": STORIES}, VOCABULARY, WORDS)
ALL = np.arange(len(DATA))


def make_model(seed: int = 0, **settings) -> LSTMReader:
    config = LSTMReaderConfig(
        vocabulary_size=len(VOCABULARY), max_words=WORDS, hidden_size=5, **settings
    )
    return LSTMReader(config, generator=torch.Generator().manual_seed(seed)).double()


def step_by_step(model: LSTMReader, story: Story) -> torch.Tensor:
    """The equations of an LSTM, one text at a time."""
    data = encode({"1": [story]}, VOCABULARY, WORDS)
    texts = [data.sentences[row] for row in data.told] + [data.questions[0]]
    h, c = torch.zeros(5, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)
    weights = dict(model.lstm.named_parameters())
    for text in texts:
        x = model.encoder(torch.from_numpy(text).unsqueeze(0))[0]
        gates = weights["weight_ih_l0"] @ x + weights["bias_ih_l0"]
        gates = gates + weights["weight_hh_l0"] @ h + weights["bias_hh_l0"]
        i, f, g, o = gates.chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return model.output @ h + model.output_bias


@pytest.mark.parametrize("groups", [1, 3])
def test_it_reads_the_story_then_the_question_without_padding(groups) -> None:
    model = make_model()
    logits = model(make_batch(DATA, ALL, groups))
    expected = torch.stack([step_by_step(model, story) for story in STORIES])
    torch.testing.assert_close(logits, expected)


def test_a_seed_repeats_and_another_differs() -> None:
    batch = make_batch(DATA, ALL)
    one, same, other = (make_model(seed)(batch) for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("setting", ["sentence_dropout", "hidden_dropout"])
def test_dropout_is_for_training_alone(setting) -> None:
    batch = make_batch(DATA, ALL)
    model = make_model(**{setting: 0.5})
    assert not torch.equal(model.train()(batch), model(batch))
    assert torch.equal(model.eval()(batch), make_model()(batch))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_size": 0}, "hidden_size must be from 1"),
        ({"sentence_dropout": 1.0}, "sentence_dropout must be at least 0 and under 1"),
        ({"embedding_scale": 0.0}, "embedding_scale must be over 0"),
    ],
)
def test_senseless_settings_are_refused(settings, message) -> None:
    with pytest.raises(UserError, match=message):
        LSTMReaderConfig(vocabulary_size=9, max_words=4, **settings)


def small_word_lstm(**settings) -> WordLSTM:
    config = WordLSTMConfig(**words.SIZES, embedding_size=3, hidden_size=4, **settings)
    return make_architecture(config, torch.Generator().manual_seed(0)).double()


def word_by_word(model: WordLSTM, stream: str) -> torch.Tensor:
    """The equations of an LSTM, one word at a time."""
    h, c = torch.zeros(4).double(), torch.zeros(4).double()
    weights = dict(model.lstm.named_parameters())
    for word in words.numbers(stream):
        x = model.embedding.weight[word]
        gates = weights["weight_ih_l0"] @ x + weights["bias_ih_l0"]
        gates = gates + weights["weight_hh_l0"] @ h + weights["bias_hh_l0"]
        i, f, g, o = gates.chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return model.output.weight @ h + model.output.bias


def test_the_word_lstm_answers_each_question_behind_its_last_word() -> None:
    model = small_word_lstm()
    logits = model(words.batch_of(*words.STORIES))
    expected = torch.stack([word_by_word(model, stream) for stream in words.STREAMS])
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(words.gradients(model, logits), words.gradients(model, expected))


def test_dropout_of_the_word_lstm_is_for_training_alone() -> None:
    batch = words.batch_of(*words.STORIES)
    model = small_word_lstm(hidden_dropout=0.5)
    assert not torch.equal(model.train()(batch), model(batch))
    assert torch.equal(model.eval()(batch), small_word_lstm()(batch))
