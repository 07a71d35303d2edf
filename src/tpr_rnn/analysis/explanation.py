"""A trace in plain English: why the model answers as it does, and what its memory holds."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tpr_rnn.analysis.schema import QuestionTrace, Step, Trace
from tpr_rnn.data.vocabulary import PADDING
from tpr_rnn.memory import SPECS

WIDTH = 80
"""Columns of a line."""

NOTABLE = 0.1
"""What has a smaller share than this is left out."""

MENTIONED = 3
"""So many sentences, or names, are mentioned at most."""


@dataclass(frozen=True)
class Source:
    """A sentence that told what a step found, and its share in that."""

    sentence: int
    share: float


@dataclass(frozen=True)
class StepReason:
    """What an inference step did, in words."""

    name: str
    """Of what it found."""
    found: str
    """Where it came from and what it found."""
    sources: tuple[Source, ...]
    """The sentences that told it, the largest share first."""
    guess: str
    """What it would answer by itself."""


@dataclass(frozen=True)
class Reasons:
    """Why a model answers a question as it does, in words."""

    rests_on: str
    """Which sentences are needed: the plainest reason, so it comes first."""
    steps: tuple[StepReason, ...] = ()
    """None if nothing was told."""
    lead: str = ""
    """Which of the steps decide; empty if there are none."""


def reasons(trace: Trace, asked: QuestionTrace) -> Reasons:
    """Say why the question of a trace is answered so."""
    if not trace.sentences:
        return Reasons("Nothing was told, so this is a guess.")
    start = asked.parts["n"].name.text or "the question"
    steps = []
    for step in asked.steps:
        found = _found(trace, step)
        steps.append(
            StepReason(
                found,
                f"From {start} the memory leads to {found}.",
                tuple(sources(trace, step)),
                f"By itself this says {_guesses(step)}.",
            )
        )
        start = found
    return Reasons(_rests_on(trace, asked), tuple(steps), _lead(asked))


def explain(trace: Trace) -> Iterator[str]:
    """The lines of an explanation; headings start in the first column, the rest further in."""
    if trace.question is not None:
        yield f"Why {trace.question.answers[0].word}?"
        why = reasons(trace, trace.question)
        yield from _filled(why.rests_on, indent=2)
        for number, step in enumerate(why.steps, start=1):
            yield from _filled(f"{number}. {step.found}", indent=2)
            yield from (_told_by(trace, source) for source in step.sources)
            yield from _filled(step.guess, indent=5)
        yield from _filled(why.lead, indent=2)
    yield from _memory(trace)


def _found(trace: Trace, step: Step) -> str:
    """The name of what a step found: a node, its opposite, or what it is mixed of."""
    found = step.retrieved
    if found.node is None:
        return "nothing"
    if found.is_node:
        name = node_name(trace, found.node)
        return name if found.cosine > 0 else f"the opposite of {name}"
    shares: dict[int, float] = {}
    weights: dict[int, float] = {}
    for origin in step.origins:
        shares[origin.node] = shares.get(origin.node, 0.0) + origin.share
        weights[origin.node] = weights.get(origin.node, 0.0) + origin.weight
    mixed = [node for node in shares if shares[node] >= NOTABLE]
    mixed.sort(key=lambda node: -shares[node])
    terms = [
        f" {'+' if weights[node] > 0 else '-'} {node_name(trace, node)}"
        for node in mixed[:MENTIONED]
    ]
    if len(terms) == 1:  # not of its direction, but nothing else stands out
        sign, name = terms[0].split(maxsplit=1)
        return f"something like {name if sign == '+' else f'the opposite of {name}'}"
    return "".join(terms).removeprefix(" +").strip() or "something without a name"


def sources(trace: Trace, step: Step) -> list[Source]:
    """The sentences that told most of what a step found, with their shares, largest first."""
    shares = [0.0] * len(trace.sentences)
    for origin in step.origins:
        shares[origin.sentence] += origin.share
    largest = sorted(enumerate(shares), key=lambda pair: -abs(pair[1]))
    return [
        Source(sentence, share) for sentence, share in largest[:MENTIONED] if abs(share) >= NOTABLE
    ]


def _told_by(trace: Trace, source: Source) -> str:
    number = trace.skipped + source.sentence + 1
    text = f"{source.share:.0%} told by {number}: {trace.sentences[source.sentence].text}"
    return "     " + textwrap.shorten(text, WIDTH - 5, placeholder=" ...")


def _guesses(step: Step) -> str:
    likely = [
        f"{guess.word} ({guess.probability:.0%})"
        for guess in step.answers
        if guess.probability >= NOTABLE and guess.word != PADDING
    ]
    return " or ".join(likely[:MENTIONED]) or "nothing in particular"


def _lead(asked: QuestionTrace) -> str:
    """Which steps make the answer win over the next best."""
    answer, rival = (guess.word for guess in asked.answers[:2])
    speaks_for: list[str] = []
    against: list[str] = []
    for number, step in enumerate(asked.steps, start=1):
        share = step.margin / (asked.margin or 1.0)
        (speaks_for if share > 0 else against).append(f"step {number} ({share:.0%})")
    other = "any other word" if rival == PADDING else f'"{rival}"'
    lead = f'The lead of "{answer}" over {other} comes from {_listed(speaks_for)}'
    return f"{lead}, against {_listed(against)}." if against else f"{lead}."


def needed(asked: QuestionTrace) -> dict[int, str]:
    """The sentences without which the answer would be another one, and which."""
    answer = asked.answers[0].word
    return {
        sentence: other.word
        for sentence, other in enumerate(asked.leave_one_out)
        if other.word != answer
    }


def _rests_on(trace: Trace, asked: QuestionTrace) -> str:
    changed = [
        f"{trace.skipped + sentence + 1} it would be {word}"
        for sentence, word in needed(asked).items()
    ]
    if not changed:
        answer = asked.answers[0].word
        return f"Without any one of the {trace.unit}s it would still be {answer}."
    return f"Without {trace.unit} {', without '.join(changed)}."


def _memory(trace: Trace) -> Iterator[str]:
    if not trace.sentences:
        return
    yield "What the memory holds"
    yield from _filled(
        f"(% of it that the memory gives back, and the {trace.unit} that told most of it; earlier: "
        "what it has kept from before)",
        indent=2,
    )
    targets: dict[int, dict[str, str]] = {}
    for arrow in sorted(trace.sentences[-1].held, key=lambda arrow: -arrow.sentence):
        target = node_name(trace, arrow.target)
        if arrow.strength < 0:
            target = f"the opposite of {target}"
        if SPECS[arrow.operation].needs:  # it stores what another operation has found
            target = f"earlier {target}"
        told = f"{abs(arrow.strength):.0%}, {trace.skipped + arrow.told_by + 1}"
        targets.setdefault(arrow.source, {}).setdefault(target, f"{target} ({told})")
    for source, found in targets.items():
        yield from _filled(f"{node_name(trace, source)} -> {', '.join(found.values())}", indent=2)


def node_name(trace: Trace, node: int) -> str:
    """What to call a node: its name, with a number if others have it, or where it is first told."""
    name = trace.nodes[node].name.text
    if not name:
        sentence, part = trace.nodes[node].members[0]
        return f"[{part} of {trace.skipped + sentence + 1}]"
    namesakes = [other for other, group in enumerate(trace.nodes) if group.name.text == name]
    number = namesakes.index(node) + 1
    return name if number == 1 else f"{name} ({number})"


def _filled(text: str, indent: int) -> Sequence[str]:
    """Lines of a paragraph."""
    later = " " * (indent + 2)
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent, subsequent_indent=later)


def _listed(items: Sequence[str]) -> str:
    """Items as one says them: a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
