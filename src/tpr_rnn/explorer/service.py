"""What the explorer can do, in plain Python; `app` puts it on the network."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from pydantic import TypeAdapter

from tpr_rnn import __version__
from tpr_rnn.analysis.explanation import node_name, reasons
from tpr_rnn.analysis.schema import Trace
from tpr_rnn.analysis.trace import trace
from tpr_rnn.data.babi.format import parse_told
from tpr_rnn.data.simulator import TASK_TITLES, tell
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import PADDING, answer_word, tokenize
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.explorer import limits, messages
from tpr_rnn.explorer.errors import check_sizes
from tpr_rnn.explorer.gallery import gallery_for
from tpr_rnn.explorer.questions import FittingQuestions
from tpr_rnn.memory import SPECS
from tpr_rnn.models.new_words import EXAMPLES
from tpr_rnn.models.reader import Answer, Reader

OPERATIONS = messages.OperationsResponse(
    operations=tuple(
        messages.OperationShown(
            name=spec.name,
            title=spec.title,
            purpose=spec.purpose,
            meaning=spec.meaning,
            colour=spec.colour,
            colour_on_dark=spec.colour_on_dark,
            line=spec.line,
            source=spec.source,
            relations=tuple(spec.relation),
            needs=tuple(other.name for other in spec.needs),
        )
        for spec in SPECS.values()
    )
)
_WORDS = TypeAdapter(dict[str, Any])


@dataclass(frozen=True)
class Service:
    """A model, ready to be explored."""

    reader: Reader
    name: str
    """The name of the model."""
    beside: Mapping[str, Reader] = field(default_factory=dict, hash=False)
    """Other models by name, to compare with."""

    def __post_init__(self) -> None:
        """Describe the model at once: that is slow, and refuses a model without a memory."""
        _ = self.description, self.gallery

    @cached_property
    def description(self) -> messages.ModelResponse:
        """The model, its words and tasks, and the limits of a request."""
        model = self.reader.memory_model
        return messages.ModelResponse(
            name=self.name,
            version=__version__,
            unit=model.unit,
            operations=model.operations,
            parameters=sum(parameter.numel() for parameter in model.parameters()),
            entity_size=model.config.entity_size,
            relation_size=model.config.relation_size,
            max_sentences=self.reader.max_sentences,
            sentence_words=model.config.max_words,
            words=tuple(word for word in self.reader.vocabulary.words if word != PADDING),
            tasks=tuple(
                messages.Task(name=name, title=title, known=name in self._questions.tasks)
                for name, title in TASK_TITLES.items()
            ),
            beside=tuple(
                messages.ModelBeside(name=name, operations=reader.memory_model.operations)
                for name, reader in self.beside.items()
            ),
            limits=messages.Limits(),
        )

    @cached_property
    def gallery(self) -> messages.GalleryResponse:
        """Stories to look at."""
        return messages.GalleryResponse(stories=gallery_for(self.reader))

    def answer(self, asking: messages.AnswerRequest) -> list[Answer]:
        """The most likely answers to a question."""
        reader = self._reader(asking.model)
        if asking.operations is not None:
            reader = reader.with_operations(asking.operations)
        return reader.answer(asking.story, asking.question, asking.top, kinds=asking.kinds)

    def _reader(self, name: str) -> Reader:
        """The model of a request; empty: the one that is explored."""
        if not name:
            return self.reader
        if name not in self.beside:
            known = ", ".join(map(quoted, self.beside)) or "none"
            raise UserError(f"there is no model {quoted(name)} here; beside this one: {known}")
        return self.beside[name]

    def trace(self, tracing: messages.TraceRequest) -> Trace:
        """Everything that happens in the memory."""
        return trace(
            self._reader(tracing.model),
            tracing.story,
            tracing.question,
            operations=tracing.operations,
            kinds=tracing.kinds,
            supports=tracing.supports,
        )

    def traced(self, tracing: messages.TraceRequest) -> bytes:
        """A `messages.TraceResponse` as JSON: by its own class each number would be checked again,
        which is slow."""
        found = self.trace(tracing)
        beside = {"not_told": self.not_told(tracing), "expected": self.expected(tracing)}
        words = {**in_words(found), **beside}
        plain = {"trace": found.as_json(), **_WORDS.dump_python(words, mode="json")}
        return json.dumps(plain).encode()

    def not_told(self, asking: messages.AnswerRequest | messages.TraceRequest) -> tuple[str, ...]:
        """Whatever the question is about that the story never mentions."""
        reader = self._reader(asking.model)
        return tuple(reader.not_told(asking.story, asking.question or "", asking.kinds))

    def expected(self, tracing: messages.TraceRequest) -> tuple[str, ...] | None:
        """The words that answer questions of a kind."""
        said = [*tracing.story, *([tracing.question] if tracing.question else [])]
        reader = self._reader(tracing.model).for_words(said, tracing.kinds)
        return self._questions.answers(tracing.question or "", reader)

    def generate(self, task: str, seed: int) -> messages.StoryResponse:
        """A story from the simulator."""
        story = _known(tell(task, seed=seed))
        return messages.StoryResponse(
            sentences=story.sentences, questions=story.questions, task=task, seed=seed
        )

    def parse(self, text: str) -> messages.ParseResponse:
        """The stories of a text in the bAbI format, or the one story of plain sentences."""
        told = parse_told(text.split("\n"), name="the text")
        stories = tuple(_asked(_known(story)) for story in told)
        check_sizes(stories)
        return messages.ParseResponse(stories=stories)

    def check(self, checking: messages.CheckRequest) -> messages.CheckResponse:
        """The words that the model does not know, each with similar words that it knows."""
        texts = [*checking.story, checking.question or ""]
        reader = self.reader.for_words(texts, checking.kinds)
        unknown = reader.vocabulary.unknown(word for text in texts for word in tokenize(text))
        return messages.CheckResponse(
            unknown=tuple(
                messages.UnknownWord(
                    word=word, nearest=self._nearest(word) if place < limits.CORRECTED else ()
                )
                for place, word in enumerate(unknown)
            ),
            new_words=tuple(
                messages.NewWord(word=new.word, kind=new.kind, like=EXAMPLES[new.kind])
                for new in reader.new_words
            ),
        )

    def suggest(self, about: messages.QuestionsRequest) -> list[str]:
        """Questions that fit a story, and that the model can answer."""
        return self._questions.about(about.story, about.kinds, limits.SUGGESTED)

    @cached_property
    def _questions(self) -> FittingQuestions:
        return FittingQuestions(self.reader)

    @lru_cache(maxsize=1024)  # noqa: B019  (there is one service in a process)
    def _nearest(self, word: str) -> tuple[str, ...]:
        return tuple(self.reader.vocabulary.nearest(word))


def in_words(found: Trace) -> dict[str, object]:
    """The parts of a `messages.TraceResponse` in words."""
    return {
        "names": tuple(node_name(found, node) for node in range(len(found.nodes))),
        "why": None if found.question is None else reasons(found, found.question),
    }


def _asked(story: messages.KnownStory) -> messages.KnownStory:
    """The same story with its sentences that end in ? as questions without a known answer."""
    sentences: list[str] = []
    questions = list(story.questions)
    for text in story.sentences:
        if text.endswith("?"):
            questions.append(
                messages.KnownQuestion(text=text, answer=None, after=len(sentences), supports=())
            )
        else:
            sentences.append(text)
    return messages.KnownStory(sentences=tuple(sentences), questions=tuple(questions))


def _known(story: Story) -> messages.KnownStory:
    return messages.KnownStory(
        sentences=story.sentences,
        questions=tuple(
            messages.KnownQuestion(
                text=question.text,
                answer=answer_word(question.answer),
                after=question.after,
                supports=question.supports,
            )
            for question in story.questions
        ),
    )
