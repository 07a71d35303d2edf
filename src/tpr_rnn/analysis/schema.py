"""What a trace holds: plain data, the same in Python and, by `Trace.as_json`, in JSON.

Sentences, nodes and relations are counted from 0. Two vectors are of one direction, and a vector
is said to be a node, from a cosine of `naming.MAJORITY` on; `naming` says how names arise.
"""

from dataclasses import dataclass
from typing import Any, Literal

from tpr_rnn.analysis.naming import MAJORITY, Name
from tpr_rnn.memory import Operation

DIGITS = 6
"""Decimal places of the numbers in JSON."""


@dataclass(frozen=True)
class Group:
    """Vectors of one direction that no words tell apart, or of one name: entities are a node of the
    memory's graph, relations an edge."""

    name: Name
    members: tuple[tuple[int, str], ...]
    """Sentence and part ("e1", "r2", ...) of each."""


@dataclass(frozen=True)
class Likeness:
    """What an entity vector is most like among the nodes of the story."""

    node: int | None
    """The nearest node; None for a vector without a direction, or a story without sentences."""
    cosine: float
    """With that node; negative if the vector points the other way."""
    strength: float
    """How much of the node it holds: 1 is the node as it was told, -1 its opposite, 0 none."""
    name: str
    """That of the node if the vector is mostly its direction and it has one, else empty."""

    @property
    def is_node(self) -> bool:
        """Whether the vector is that node, or its opposite, and not only a little like it."""
        return self.node is not None and abs(self.cosine) >= MAJORITY


@dataclass(frozen=True)
class Part:
    """One of the vectors that the networks make of a text: e1, e2, r1, r2, r3; n, l1, l2, l3."""

    name: Name
    group: int | None
    """Its node or relation; for a part of a question the nearest, if the story has any."""
    cosine: float
    """With the middle of that group."""
    words: tuple[float, ...]
    """The share of each token of the text in what turns this vector."""


@dataclass(frozen=True)
class Change:
    """What one operation of a sentence does to the memory: an arrow goes, another one comes."""

    operation: Operation
    source: int
    """The node from which both arrows start."""
    relation: int
    removed: Likeness
    """w_hat, m_hat or b_hat: what was found there (eq. 9, 11, 13)."""
    added: Likeness
    """e2, w_hat or e1: what stands there instead."""


@dataclass(frozen=True)
class Association:
    """An arrow of the memory's graph: (source, relation) leads to target."""

    source: int
    relation: int
    target: int
    operation: Operation
    sentence: int
    """The last sentence that used this key, and its operation; the memory is read with it."""
    told_by: int
    """The sentence that told most of what the memory gives back, through whatever operations."""
    strength: float
    """How much of the target the memory gives back: 1 is all, as told into an empty memory."""
    cosine: float
    """Of what it gives back with the target."""


@dataclass(frozen=True)
class SentenceTrace:
    """A sentence of the story, and the memory after it."""

    text: str
    tokens: tuple[str, ...]
    line: int
    """Its number in the story as it was given. Of a word-level model, that of the word's sentence;
    the question counts as the sentence after the last one."""
    parts: dict[str, Part]
    """e1, e2, r1, r2, r3 (eq. 7, 8)."""
    changes: tuple[Change, ...]
    """What each operation in use did (eq. 9-14)."""
    held: tuple[Association, ...]
    """The memory after this sentence: all associations of which it gives back more than half."""


@dataclass(frozen=True)
class Answer:
    """A word as an answer."""

    word: str
    probability: float


@dataclass(frozen=True)
class Row:
    """What an operation of a sentence contributes to a read: weight times the change it made."""

    sentence: int
    operation: Operation
    weight: float
    share: float
    """Of the vector retrieved; the shares of all rows add up to 1."""


@dataclass(frozen=True)
class Origin:
    """What an entity, as a sentence told it, contributes to a read: weight times the entity.

    This looks through overwriting and moving: what was told and replaced since has no weight.
    """

    sentence: int
    part: str
    """"e2", stored by write and perhaps moved since, or "e1", stored by backlink."""
    node: int
    weight: float
    share: float
    """Of the vector retrieved; the shares of all origins add up to 1."""


@dataclass(frozen=True)
class Step:
    """An inference step (eq. 17-19): what it found, and where that came from."""

    retrieved: Likeness
    """What the memory gave, before normalisation."""
    rows: tuple[Row, ...]
    origins: tuple[Origin, ...]
    answers: tuple[Answer, ...]
    """What this step alone would answer, likeliest first."""
    margin: float
    """What it adds to the lead of the answer over its rival (a difference of logits)."""


@dataclass(frozen=True)
class Basis:
    """The sentences that an answer rests on; `analysis.basis` says how they are found."""

    sentences: tuple[int, ...]
    """In the order in which the inference steps find what they told."""
    alone: Answer
    """The answer with these sentences alone."""
    without: Answer
    """The answer without all of them."""
    unused: tuple[int, ...]
    """Sentences that one would expect to be needed, and that the answer does not depend on: they
    support it, or they are of the basis because they told most of what a step found, or only they
    tell of something in the question."""


@dataclass(frozen=True)
class QuestionTrace:
    """A question, and how its answer arose (eq. 15-20)."""

    text: str
    tokens: tuple[str, ...]
    parts: dict[str, Part]
    """n, l1, l2, l3."""
    steps: tuple[Step, ...]
    answers: tuple[Answer, ...]
    """Likeliest first; the second one is the rival."""
    margin: float
    """The lead of the answer over its rival: the sum of those of the steps."""
    basis: Basis
    """What the answer rests on."""
    not_told: tuple[str, ...]
    """The people, things and places of the question that the story never mentions."""
    leave_one_out: tuple[Answer, ...]
    """What the answer would be without each sentence of the story."""
    over_time: tuple[Answer, ...]
    """What the answer would have been after each sentence; the last one is the answer itself."""


@dataclass(frozen=True)
class Trace:
    """A story, and perhaps a question about it, as the memory lived through it."""

    unit: Literal["sentence", "word"]
    """What updates the memory once: a sentence or, for a word-level model, a word. There each item
    of `sentences` is a word of the story or of the question, and whatever is counted is words."""
    skipped: int
    """Sentences at the beginning that were not read, for the model reads only so many."""
    operations: tuple[Operation, ...]
    """Those in use: the model's, or fewer for an ablation."""
    nodes: tuple[Group, ...]
    """Entities, in the order in which they were first told."""
    relations: tuple[Group, ...]
    sentences: tuple[SentenceTrace, ...]
    similarity: dict[str, tuple[tuple[float, ...], ...]]
    """For each of e1, e2, r1, r2, r3 the cosine of every two sentences."""
    question: QuestionTrace | None
    new_words: dict[str, str]
    """The kind that each new word was taken for: a name, a thing or a place."""

    def as_json(self) -> dict[str, Any]:
        """The same as dictionaries, lists, texts and rounded numbers."""
        plain: dict[str, Any] = _plain(vars(self))
        return plain


def _plain(value: Any) -> Any:
    # The most frequent first, in one pass: a long story has a hundred thousand numbers.
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    fields = value if isinstance(value, dict) else vars(value)
    return {key: _plain(inner) for key, inner in fields.items()}
