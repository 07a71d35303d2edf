"""Equation 5, for few sentences and for many, and what it costs."""

import pytest
import torch

from tpr_rnn.data.vocabulary import Vocabulary
from tpr_rnn.errors import UserError
from tpr_rnn.models.encoder import SentenceEncoder, encode
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.registry import find_architecture, make_model


def make_encoder(vocabulary_size: int, words: int, symbol_size: int | None) -> SentenceEncoder:
    generator = torch.Generator().manual_seed(0)
    encoder = SentenceEncoder(vocabulary_size, words, 1.0, generator, symbol_size).double()
    with torch.no_grad():
        encoder.position_vectors.uniform_(-1, 1, generator=generator)
    return encoder


@pytest.mark.parametrize("symbol_size", [None, 3])
@pytest.mark.parametrize("sentences", [1, 6, 7, 8, 40])  # fewer and more than there are words
def test_a_sentence_is_the_sum_of_its_words_by_position(sentences, symbol_size) -> None:
    encoder = make_encoder(7, 4, symbol_size)
    words = torch.randint(0, 7, (sentences, 4), generator=torch.Generator().manual_seed(1))
    weights = (encoder.word_vectors, encoder.position_vectors)
    by_hand = torch.stack(
        [
            sum(weights[0][word] * weights[1][place] for place, word in enumerate(sentence))
            for sentence in words
        ]
    )
    direction = torch.rand(by_hand.shape, dtype=torch.float64)
    expected = torch.autograd.grad((by_hand * direction).sum(), weights)
    for encoded in (encoder(words), encode(words, *weights)):
        assert encoded.shape == (sentences, symbol_size or 7)
        torch.testing.assert_close(encoded, by_hand)
        found = torch.autograd.grad((encoded * direction).sum(), weights)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("vocabulary_size", [100, 4_000])
def test_few_sentences_cost_the_same_whatever_the_vocabulary(vocabulary_size) -> None:
    kept = []

    def keep(tensor):
        kept.append(tensor.numel())
        return tensor

    encoder = make_encoder(vocabulary_size, 8, 16)
    words = torch.randint(0, vocabulary_size, (64, 8))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        encode(words, encoder.word_vectors, encoder.position_vectors).sum()
    assert max(kept) == 64 * 8 * 16


@pytest.mark.parametrize("name", ["tpr-rnn", "lstm"])
def test_the_size_of_word_vectors_is_a_setting(name, tmp_path) -> None:
    vocabulary = Vocabulary(["mary", "went", "home", ".", "where", "is", "?"])
    sizes = {"vocabulary_size": len(vocabulary), "max_words": 4}
    kind = find_architecture(name).config
    model = make_model(kind.from_json({**sizes, "symbol_size": 3}))
    assert model.word_vectors.shape == (len(vocabulary), 3)
    assert "symbol 3" in model.config.summary()
    saved = Reader(model, vocabulary)
    saved.save(tmp_path / "model.safetensors")
    question = ["Mary went home."], "Where is Mary?"
    assert len(saved.answer(*question, top=99)) == len(vocabulary) - 1  # the padding is no word
    assert Reader.load(tmp_path).answer(*question) == saved.answer(*question)
    assert make_model(kind.from_json(sizes)).word_vectors.shape == (len(vocabulary),) * 2
    with pytest.raises(UserError, match="symbol_size must be from 1"):
        kind.from_json({**sizes, "symbol_size": 0})
