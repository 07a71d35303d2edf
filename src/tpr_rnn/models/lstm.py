"""Plain readers to compare with: LSTMs over the sentences, or over the words, of a story.

The LSTM over sentences reads what the TPR-RNN reads, sentence vectors of eq. 5, and like it does
not know the question while it reads the story. Where the TPR-RNN has a third-order memory, it has
one state vector. The LSTM over words is the one that the literature on bAbI cites: it reads a story
once, with its questions at their places, and answers each from the state behind its last word.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, linear
from torch.nn.utils.rnn import pack_padded_sequence

from tpr_rnn.data.batches import Batch, StoryGroup
from tpr_rnn.data.word_stream import WordStream, word_stream
from tpr_rnn.errors import UserError
from tpr_rnn.models.encoder import SentenceEncoder
from tpr_rnn.models.model import Model, ModelConfig


@dataclass(frozen=True, kw_only=True)
class LSTMReaderConfig(ModelConfig):
    """Sizes and settings of an LSTM reader."""

    symbol_size: int | None = None
    """Dimension of word and sentence vectors; None: one for each word of the vocabulary."""
    hidden_size: int = 128
    """Units of the LSTM."""
    embedding_scale: float = 20.0
    """Word vectors start uniformly in +- this. Eq. 5 divides them by the words of a sentence; with
    small ones all people open the same gates at first, and it takes long to tell them apart."""
    sentence_dropout: float = 0.0
    """Share of a sentence vector (V_Symbol) that is left out in training."""
    hidden_dropout: float = 0.0
    """Share of the last state that is left out in training."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        self.check_sizes("vocabulary_size", "max_words", "hidden_size")
        if self.symbol_size is not None:
            self.check_sizes("symbol_size")
        self.check_shares("sentence_dropout", "hidden_dropout")
        if not 0 < self.embedding_scale < math.inf:
            raise UserError(f"embedding_scale must be over 0, not {self.embedding_scale}")

    def summary(self) -> str:
        """The sizes, for a person to read."""
        symbol = "" if self.symbol_size is None else f", symbol {self.symbol_size}"
        return f"hidden {self.hidden_size}{symbol}"


class LSTMReader(Model):
    """Reads a story sentence by sentence, then the question; the last state gives the answer."""

    config: LSTMReaderConfig

    def __init__(
        self, config: LSTMReaderConfig, *, generator: torch.Generator | None = None
    ) -> None:
        """Make a model with fresh parameters.

        Args:
            config: sizes and settings.
            generator: source of the random initialisation; torch's global one if None.
        """
        super().__init__(config, generator=generator)
        vocabulary, hidden = config.vocabulary_size, config.hidden_size
        self.encoder = SentenceEncoder(
            vocabulary, config.max_words, config.embedding_scale, generator, config.symbol_size
        )
        self.sentence_dropout = nn.Dropout(config.sentence_dropout)
        self.lstm = nn.LSTM(config.symbol_size or vocabulary, hidden, batch_first=True)
        self.hidden_dropout = nn.Dropout(config.hidden_dropout)
        self.output = nn.Parameter(torch.empty(vocabulary, hidden))
        self.output_bias = nn.Parameter(torch.zeros(vocabulary))
        # The usual range, but from the generator: torch's own start would ignore it.
        bound = hidden**-0.5
        with torch.no_grad():
            for weight in (*self.lstm.parameters(), self.output):
                weight.uniform_(-bound, bound, generator=generator)
            # A forget gate that starts open keeps the first sentences of a story alive.
            self.lstm.get_parameter("bias_hh_l0")[hidden : 2 * hidden] = 1.0

    @property
    def word_vectors(self) -> nn.Parameter:
        """A vector for each word (d in eq. 5)."""
        return self.encoder.word_vectors

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        texts = torch.cat((batch.sentences, batch.questions))  # each different one once
        vectors = self.sentence_dropout(self.encoder(texts))
        states = [
            self._last_state(vectors, _with_question(group, len(batch.sentences)), group.position)
            for group in batch.groups
        ]
        last = self.hidden_dropout(torch.cat(states))
        return linear(last, self.output, self.output_bias)

    def _last_state(
        self, vectors: Float[Tensor, "u v"], rows: Int[Tensor, "b t"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b h"]:
        """The state after the question, which is read after so many sentences."""
        read = pack_padded_sequence(
            embedding(rows, vectors), lengths.cpu() + 1, batch_first=True, enforce_sorted=False
        )
        state: Tensor = self.lstm(read)[1][0]
        return state[0]


def _with_question(group: StoryGroup, sentences: int) -> Int[Tensor, "b _"]:
    """The rows of a story's texts, the question (counted after all sentences) as the last."""
    story, lengths, *_ = group.for_each_question()
    rows = torch.cat((story, story.new_zeros(len(story), 1)), dim=1)
    return rows.scatter(1, lengths.unsqueeze(1), (group.question + sentences).unsqueeze(1))


@dataclass(frozen=True, kw_only=True)
class WordLSTMConfig(ModelConfig):
    """Sizes and settings of an LSTM over words; what the literature used was not published."""

    embedding_size: int = 64
    """Dimension of word vectors."""
    hidden_size: int = 256
    """Units of the LSTM."""
    hidden_dropout: float = 0.0
    """Share of the state behind a question that is left out in training."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        self.check_sizes("vocabulary_size", "max_words", "embedding_size", "hidden_size")
        self.check_shares("hidden_dropout")

    def summary(self) -> str:
        """The sizes, for a person to read."""
        return f"hidden {self.hidden_size}, embedding {self.embedding_size}"


class WordLSTM(Model):
    """Reads a story once, word by word, and answers each question behind its last word."""

    config: WordLSTMConfig

    def __init__(self, config: WordLSTMConfig, *, generator: torch.Generator | None = None) -> None:
        """Make a model with fresh parameters; `generator` is where their randomness comes from."""
        super().__init__(config, generator=generator)
        hidden = config.hidden_size
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_size)
        self.lstm = nn.LSTM(config.embedding_size, hidden, batch_first=True)
        self.hidden_dropout = nn.Dropout(config.hidden_dropout)
        self.output = nn.Linear(hidden, config.vocabulary_size)
        with torch.no_grad():
            self.lstm.get_parameter("bias_hh_l0")[hidden : 2 * hidden] = 1.0  # as above

    @property
    def word_vectors(self) -> Tensor:
        """A vector for each word."""
        return self.embedding.weight

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        states = [self._states(word_stream(batch, group)) for group in batch.groups]
        last = self.hidden_dropout(torch.cat(states))
        logits: Tensor = self.output(last)
        return logits

    def _states(self, stream: WordStream) -> Float[Tensor, "q h"]:
        """The state behind each question; padding comes later and changes nothing."""
        states, _ = self.lstm(self.embedding(stream.words))
        behind: Tensor = states[stream.about, stream.at]
        return behind
