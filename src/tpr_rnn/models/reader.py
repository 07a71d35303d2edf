"""A model with its vocabulary: reads a story and answers questions, and can be saved."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
import torch
from jaxtyping import Float, Int
from msgspec import Meta, Struct
from torch import Tensor

from tpr_rnn.data.batches import Batch, StoryGroup
from tpr_rnn.data.encoding import UNKNOWN_ANSWER, word_table
from tpr_rnn.data.vocabulary import Vocabulary, tokenize
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.files import read_tensors, write_tensors
from tpr_rnn.memory import check_operations
from tpr_rnn.models.model import Model
from tpr_rnn.models.new_words import SLOTS, NewWord, kind_of, new_words
from tpr_rnn.models.registry import (
    ARCHITECTURES,
    TPR_RNN,
    architecture_of,
    find_architecture,
    make_model,
)
from tpr_rnn.models.tpr_rnn import TPRRNN
from tpr_rnn.models.word_level import WordLevel

if TYPE_CHECKING:
    from tpr_rnn.evaluation.record import RunRecord


class Answer(NamedTuple):
    """A word as the answer to a question."""

    word: str
    probability: float


@dataclass(frozen=True)
class Reader:
    """A trained model together with the words that it knows."""

    model: Model
    vocabulary: Vocabulary
    max_sentences: int | None = None
    """The last so many sentences of a story are read, as in the task with the most in training;
    None: all of them."""
    temperature: float = 1.0
    """The model's scores are divided by this before they become probabilities, so that it is as
    sure as it is right (evaluation/calibration.py)."""
    new_words: tuple[NewWord, ...] = ()
    """Words of the texts at hand that have taken a slot (`for_words`)."""

    def answer(
        self,
        story: Sequence[str],
        question: str,
        top: int = 5,
        *,
        kinds: Mapping[str, str] | None = None,
    ) -> list[Answer]:
        """The likeliest answers to a question about a story, best first.

        Args:
            story: the sentences, in order; the last `max_sentences` of them count.
            question: the question; unknown words in either take slots (`for_words`), or are an
                error that names them.
            top: how many answers to give.
            kinds: what new words are, where that is not to be told from their sentences.
        """
        reader = self.for_words([*story, question], kinds)
        reader.check([*story, question])
        told = reader.words(reader.as_read(story))
        asked = reader.words([reader.as_asked(question)])
        group = StoryGroup.of_one(len(told), questions=1)
        # The answer is what we want to know; nobody looks at what stands in for it.
        answer = torch.tensor([UNKNOWN_ANSWER])
        batch = Batch(told, asked, (group,), answer, task=torch.tensor([0]))
        self.model.eval()
        with torch.no_grad():
            y_hat = self.probabilities(self.model(batch))[0]
        best = y_hat.topk(min(top, len(self.vocabulary) - 1))
        return [
            Answer(reader.vocabulary.words[number], probability)
            for probability, number in zip(*(part.tolist() for part in best), strict=True)
        ]

    def probabilities(self, logits: Float[Tensor, "*n v"]) -> Float[Tensor, "*n v"]:
        """How likely each word is (eq. 20), at the temperature that was chosen.

        The padding, number 0, is no word, whatever a model thinks that has learned little.
        """
        words = (logits[..., 1:] / self.temperature).softmax(dim=-1)
        return torch.cat([torch.zeros_like(logits[..., :1]), words], dim=-1)

    def not_told(
        self, story: Sequence[str], question: str, kinds: Mapping[str, str] | None = None
    ) -> list[str]:
        """The people, things and places of a question that the story never mentions."""
        told = {word for text in story for word in tokenize(text)}
        new = {each.word for each in self.for_words([*story, question], kinds).new_words}
        return [
            word
            for word in dict.fromkeys(tokenize(question))
            if word not in told and (kind_of(word) or word in new)
        ]

    def for_words(self, texts: Sequence[str], kinds: Mapping[str, str] | None = None) -> "Reader":
        """The same model, with slots for those words of some texts that it does not know.

        Each new name, thing or place takes a slot of its kind (`new_words`), which from then on
        goes by that word, in answers too. A model without slots stays as it is.

        Args:
            texts: sentences and questions.
            kinds: what new words are ("name", "thing" or "place"), where somebody says so; for
                others their sentences tell.
        """
        taken = new_words(texts, self.vocabulary, kinds or {})
        if not taken:
            return self
        names = {each.slot: each.word for each in taken}
        return replace(
            self,
            vocabulary=self.vocabulary.renamed(names),
            new_words=(*self.new_words, *taken),
        )

    def check_kinds(self, kinds: Mapping[str, str]) -> None:
        """Refuse to be told what a word is that is not new, or that cannot be read anyway."""
        for word in kinds:
            if word in self.vocabulary:
                raise UserError(f"the model knows {quoted(word)}; only new words can be chosen")
        if kinds and not self.takes_new_words:
            raise UserError(
                "this model takes no new words; one that was trained on wide stories does "
                "(tpr-rnn train --task all+wide)"
            )

    @property
    def takes_new_words(self) -> bool:
        """Whether the model has slots for words that it does not know."""
        return any(slot in self.vocabulary for slots in SLOTS.values() for slot in slots)

    @property
    def memory_model(self) -> TPRRNN | WordLevel:
        """The model, for whoever looks into its memory; one that has none is an error."""
        if not isinstance(self.model, TPRRNN | WordLevel):
            raise UserError(
                f"only a TPR-RNN has a memory to look into; this model is: {self._title}"
            )
        return self.model

    @property
    def _title(self) -> str:
        return ARCHITECTURES[architecture_of(self.model.config)].title

    def with_operations(self, operations: Sequence[str]) -> "Reader":
        """The same model with only some of its memory operations: what are the others good for?"""
        used = check_operations(operations)
        trained = self.memory_model.operations
        for name in used:
            if name not in trained:
                raise UserError(
                    f"the model was trained without {name}; its operations are {', '.join(trained)}"
                )
        model = copy.copy(self.memory_model)  # with the same parameters
        model.operations = used
        model.config = replace(model.config, operations=used)
        return replace(self, model=model)

    def as_read(self, story: Sequence[str]) -> list[str]:
        """The sentences that are read of a story, each with its final mark."""
        unread = 0 if self.max_sentences is None else max(len(story) - self.max_sentences, 0)
        return [self._punctuated(sentence, ".") for sentence in story[unread:]]

    def as_asked(self, question: str) -> str:
        """A question with its final mark."""
        return self._punctuated(question, "?")

    def words(self, texts: Sequence[str]) -> Int[Tensor, "u w"]:
        """Texts as the model reads them: numbers of words."""
        return torch.from_numpy(word_table(texts, self.vocabulary, self.model.config.max_words))

    def check(self, texts: Sequence[str]) -> None:
        """Refuse texts that the model cannot read, naming the words or the sentence."""
        unknown = self.vocabulary.unknown(word for text in texts for word in tokenize(text))
        if unknown:
            raise UserError(self.vocabulary.complaint(unknown))
        for text in texts:
            words, limit = len(tokenize(text)), self.model.config.max_words
            if not 1 <= words <= limit:
                raise UserError(
                    f"{quoted(text)} has {words} words (punctuation counts); "
                    f"the model reads 1 to {limit}"
                )

    def _punctuated(self, text: str, mark: str) -> str:
        """The text with the final mark that the model is used to, if it has none."""
        words = tokenize(text)
        room = len(words) < self.model.config.max_words
        return (
            f"{text} {mark}"
            if words[-1][0].isalnum() and mark in self.vocabulary and room
            else text
        )

    def description(self) -> dict[str, Any]:
        """All that makes the reader, but for its tensors, as JSON values."""
        return {
            "model": architecture_of(self.model.config),
            "config": asdict(self.model.config),
            "vocabulary": self.vocabulary.words,
            "max_sentences": self.max_sentences,
            "temperature": self.temperature,
        }

    def save(self, path: Path) -> None:
        """Write model, configuration and vocabulary to one safetensors file."""
        write_tensors(path, self.model.state_dict(), self.description())

    def save_pretrained(self, directory: Path | str, record: "RunRecord | None" = None) -> None:
        """Write a directory as the Hugging Face Hub has models (tpr_rnn/hub.py).

        Args:
            directory: where to; what is there of these files is replaced.
            record: that of the run, whose errors the card then has.
        """
        from tpr_rnn import hub

        hub.save(self, Path(directory), record)

    @staticmethod
    def from_pretrained(place: Path | str, *, revision: str | None = None) -> "Reader":
        """Read a model that `save_pretrained` has written.

        Args:
            place: its directory, or its name on the hub, such as "ann/stories" (extra `hub`).
            revision: a branch, tag or commit of the hub; None: the newest.
        """
        from tpr_rnn import hub

        return hub.load(place, revision)

    @staticmethod
    def load(path: Path | str) -> "Reader":
        """Read a model back, from its file or from the run directory that holds it."""
        path = Path(path)
        if path.is_dir():
            path = path / "model.safetensors"
        if not path.is_file():
            raise UserError(
                f"{path}: no such file; expected a run directory that `tpr-rnn train` has made"
            )
        return Reader.of(path, *read_tensors(path))

    @staticmethod
    def of(path: Path, content: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "Reader":
        """The reader that a `description` and its tensors make; `path` is for messages."""
        try:
            description = msgspec.convert(_with_new_names(content), _Description)
            vocabulary = Vocabulary(description.vocabulary)
            settings = _with_new_names(description.config)
            model = make_model(find_architecture(description.model).config.from_json(settings))
            model.load_state_dict(tensors)
            if len(vocabulary) != model.config.vocabulary_size:
                raise ValueError("the vocabulary is of another size than the model")
            return Reader(
                model.eval(), vocabulary, description.max_sentences, description.temperature
            )
        except (UserError, LookupError, RuntimeError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UserError(f"{path}: not a model of tpr-rnn ({reason})") from error


class _Description(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the file of a model says beside its tensors."""

    model: str = TPR_RNN
    config: dict[str, Any]
    vocabulary: list[str]
    max_sentences: Annotated[int, Meta(ge=1)] | None
    temperature: Annotated[float, Meta(ge=1)] = 1.0


_NEW_NAMES = {
    "words": "max_words",
    "symbol_dropout": "sentence_dropout",
    "story_cap": "max_sentences",
}
"""What had other names in version 0.1: its files can still be loaded."""


def _with_new_names(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_NEW_NAMES.get(name, name): value for name, value in values.items()}
