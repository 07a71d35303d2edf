"""DMN+: Dynamic Memory Networks for Visual and Textual Question Answering (Xiong et al. 2016).

Sentences become facts that know their neighbours (input fusion). The question then passes over the
facts several times; each pass attends to some of them in their order, and updates the memory by
what it found. Equation numbers are the paper's.

The facts of a story depend on where it ends, which is for each question another place, so each
question reads its story by itself; what sentences are before the fusion is computed once for each
different one.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, linear, pad

from tpr_rnn.data.batches import Batch, StoryGroup
from tpr_rnn.models.encoder import position_encoding
from tpr_rnn.models.model import Model, ModelConfig


@dataclass(frozen=True, kw_only=True)
class DMNConfig(ModelConfig):
    """Sizes and settings of a DMN+; the defaults are the paper's."""

    hidden_size: int = 80
    """Dimension of word vectors, facts, attention and memory (d)."""
    passes: int = 3
    """Passes over the facts (T)."""
    dropout: float = 0.1
    """Share of the sentence encodings, and of the last memory, that is left out in training."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        self.check_sizes("vocabulary_size", "max_words", "hidden_size", "passes")
        self.check_shares("dropout")

    def summary(self) -> str:
        """The sizes, for a person to read."""
        return f"hidden {self.hidden_size}, {self.passes} passes"


class DMN(Model):
    """Facts, and a memory that passes over them."""

    config: DMNConfig
    positions: Tensor

    def __init__(self, config: DMNConfig, *, generator: torch.Generator | None = None) -> None:
        """Make a model with fresh parameters: Xavier's, but for the word vectors."""
        super().__init__(config, generator=generator)
        d = config.hidden_size
        self.register_buffer("positions", position_encoding(config.max_words, d), persistent=False)
        words = torch.empty(config.vocabulary_size - 1, d)  # the null word, number 0, is zero
        self.words = nn.Parameter(words.uniform_(-math.sqrt(3), math.sqrt(3), generator=generator))
        # Eq. 1-4; torch's update gate is 1 - u, and it has a second bias in eq. 3.
        self.question_gru = nn.GRU(d, d)
        self.forth_gru, self.back_gru = nn.GRU(d, d), nn.GRU(d, d)
        self.attention = nn.Linear(4 * d, d)  # W^(1), b^(1) in eq. 9
        self.attention_score = nn.Linear(d, 1)  # W^(2), b^(2)
        self.episode_gru = AttentionGRU(d)
        self.memory_updates = nn.ModuleList(nn.Linear(3 * d, d) for _ in range(config.passes))
        self.answer = nn.Linear(2 * d, config.vocabulary_size)
        self.dropout = nn.Dropout(config.dropout)
        for name, parameter in self.named_parameters():
            if "bias" in name:
                nn.init.zeros_(parameter)
            elif parameter is not self.words:
                gates = parameter.split(d) if "gru" in name else [parameter]  # each by itself
                for matrix in gates:
                    nn.init.xavier_uniform_(matrix.data, generator=generator)

    def forward(self, batch: Batch) -> Float[Tensor, "n v"]:
        """The scores (logits) of every word as the answer to every question of the batch."""
        words = pad(self.words, (0, 0, 1, 0))
        sentences = (embedding(batch.sentences, words) * self.positions).sum(dim=1)
        questions = self._questions(batch.questions, words)
        answers = []
        for group in (group.for_each_question() for group in batch.groups):
            q = embedding(group.question, questions)
            told = torch.arange(group.story.shape[1], device=q.device) < group.lengths.unsqueeze(1)
            m = self._memory(self._facts(sentences, group) * told.unsqueeze(2), told, q)
            m = self.dropout(m)
            answers.append(self.answer(torch.cat((q, m), dim=1)))
        return torch.cat(answers)

    def _questions(
        self, questions: Int[Tensor, "a w"], words: Float[Tensor, "v d"]
    ) -> Float[Tensor, "a d"]:
        """The state of a GRU after the words of each question (section 2)."""
        states: Tensor = self.question_gru(embedding(questions.T, words))[0]  # w a d
        last = (questions > 0).sum(dim=1) - 1
        return states[last, torch.arange(len(questions), device=last.device)]

    def _facts(self, sentences: Float[Tensor, "u d"], group: StoryGroup) -> Float[Tensor, "q t d"]:
        """The input fusion layer: a GRU in either direction, and the sum (eq. 5-7)."""
        story, lengths = group.story.T, group.lengths
        encoded: Tensor = self.dropout(embedding(story, sentences))  # t q d
        if not len(story):  # which a GRU refuses
            return encoded.transpose(0, 1)
        # Backwards from the end of each story; what is behind the end comes after it either way.
        time = torch.arange(len(story), device=story.device).unsqueeze(1)
        turned = torch.where(time < lengths, lengths - 1 - time, time)
        turned = turned.unsqueeze(2).expand_as(encoded)
        forth, _ = self.forth_gru(encoded)
        back, _ = self.back_gru(encoded.gather(0, turned))
        facts: Tensor = forth + back.gather(0, turned)
        return facts.transpose(0, 1)

    def _memory(
        self, facts: Float[Tensor, "q t d"], told: Bool[Tensor, "q t"], q: Float[Tensor, "q d"]
    ) -> Float[Tensor, "q d"]:
        """The memory after all passes; it starts as the question."""
        d = facts.shape[2]
        # The parts of eq. 9 that only depend on the question, and the others.
        by_q, by_m, from_q, from_m = self.attention.weight.split(d, dim=1)
        known = linear(facts * q.unsqueeze(1), by_q, self.attention.bias)
        known = known + (facts - q.unsqueeze(1)).abs() @ from_q.T
        inputs = self.episode_gru.inputs(facts)
        m = q
        for update in self.memory_updates:
            z = (facts * m.unsqueeze(1)) @ by_m.T + (facts - m.unsqueeze(1)).abs() @ from_m.T
            score = self.attention_score(torch.tanh(known + z)).squeeze(2)  # eq. 8, 9
            lowest = torch.finfo(score.dtype).min  # not -inf: a story may be empty
            g = score.masked_fill(~told, lowest).softmax(dim=1) * told  # eq. 10
            c = self.episode_gru(inputs, g)
            m = update(torch.cat((m, c, q), dim=1)).relu()  # eq. 14
        return m


class AttentionGRU(nn.Module):
    """A GRU with the attention to a fact in place of its update gate (eq. 2, 3, 12)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.input_weight = nn.Parameter(torch.empty(2 * size, size))  # W^(r), W
        self.hidden_weight = nn.Parameter(torch.empty(2 * size, size))  # U^(r), U
        self.bias = nn.Parameter(torch.empty(2 * size))  # b^(r), b^(h)

    def inputs(self, facts: Float[Tensor, "q t d"]) -> Float[Tensor, "q t c"]:
        """What facts contribute to the gate and the candidate, the same in every pass."""
        return linear(facts, self.input_weight, self.bias)

    def forward(
        self, inputs: Float[Tensor, "q t c"], g: Float[Tensor, "q t"]
    ) -> Float[Tensor, "q d"]:
        """The last state, which is the episode c; a fact without attention leaves it as it is."""
        h = inputs.new_zeros(len(inputs), inputs.shape[2] // 2)
        for x, attention in zip(inputs.unbind(dim=1), g.unbind(dim=1), strict=True):
            (x_r, x_h), (u_r, u_h) = (
                part.chunk(2, dim=1) for part in (x, h @ self.hidden_weight.T)
            )
            r = torch.sigmoid(x_r + u_r)  # eq. 2
            candidate = torch.tanh(x_h + r * u_h)  # eq. 3
            h = torch.lerp(h, candidate, attention.unsqueeze(1))  # eq. 12
        return h
