"""A trace in plain English: why the model answers as it does, and what its memory holds."""

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tpr_rnn.analysis.basis import told_shares
from tpr_rnn.analysis.plain_sentence import listed, said_together
from tpr_rnn.analysis.schema import Answer, QuestionTrace, Step, Trace
from tpr_rnn.data.simulator.wide.words import UNKNOWN
from tpr_rnn.memory import SPECS

WIDTH = 80
"""Columns of a line."""

NOTABLE = 0.1
"""What has a smaller share than this is left out."""

MENTIONED = 3
"""So many sentences of a step, or names, are mentioned at most."""

COUNTED = 6
"""So many numbers of sentences are listed at most."""

SURE = 0.9
"""An answer that is less likely than this is said with its probability."""


@dataclass(frozen=True)
class Source:
    """A sentence that told what a step found, and its share in all that the step is made of."""

    sentence: int
    share: float
    """Less than 0 if it takes away."""


@dataclass(frozen=True)
class StepReason:
    """What an inference step did, in words."""

    name: str
    """Of what it found, as in the picture of the memory."""
    found: str
    """Where it came from and what it found."""
    sources: tuple[Source, ...]
    """The sentences that told it, the largest share first."""
    guess: str
    """What it would answer by itself."""


@dataclass(frozen=True)
class Reasons:
    """Why a model answers a question as it does, in words."""

    short: str
    """The sentences that the answer rests on, and the answer: one plain sentence."""
    spare: str
    """What the answer does not depend on though one would expect it; empty if there is nothing."""
    doubt: str = ""
    """Which words are new, and what the question is about and the story never mentions."""
    chain: str = ""
    """What the steps have found, one after the other; empty if one of them has no name."""
    tests: tuple[str, ...] = ()
    """What the answer would be with fewer sentences."""
    steps: tuple[StepReason, ...] = ()
    """None if nothing was told."""
    lead: str = ""
    """Which of the steps decide; empty if there are none."""


def reasons(trace: Trace, asked: QuestionTrace) -> Reasons:
    """Say why the question of a trace is answered so."""
    if not trace.sentences:
        return Reasons("Nothing was told, so this is a guess.", "", _doubt(trace, asked))
    start = asked.parts["n"].name.text or "the question"
    chain = [start]
    steps = []
    for step in asked.steps:
        name, turned = _name(trace, step)
        minus = " (with a minus)" if turned else ""
        steps.append(
            StepReason(
                name,
                f"From {chain[-1]} the memory leads to {name}{minus}.",
                tuple(sources(trace, step)),
                f"By itself this step would answer {_guesses(step)}.",
            )
        )
        chain.append(name)
    return Reasons(
        short=_short(trace, asked),
        spare=_spare(trace, asked),
        doubt=_doubt(trace, asked),
        chain=_chain(asked, chain),
        tests=tuple(_tests(trace, asked)),
        steps=tuple(steps),
        lead=_lead(asked),
    )


def explain(trace: Trace, *, full: bool = False) -> Iterator[str]:
    """The lines of an explanation; headings start in the first column, the rest further in.

    Args:
        trace: a story, and perhaps a question.
        full: with the inference steps and what the memory holds.
    """
    if trace.question is not None:
        why = reasons(trace, trace.question)
        yield f"Why {_quoted(trace.question.answers[0].word)}?"
        yield from _filled(why.short, indent=2)
        yield from _filled(why.spare, indent=2)
        yield from _filled(why.doubt, indent=2)
        if full:
            yield from _filled(why.chain, indent=2)
            for test in why.tests:
                yield from _filled(test, indent=2)
            for number, step in enumerate(why.steps, start=1):
                yield from _filled(f"{number}. {step.found}", indent=2)
                yield from (_told_by(trace, source) for source in step.sources)
                yield from _filled(step.guess, indent=5)
            yield from _filled(why.lead, indent=2)
    if full:
        yield from _memory(trace)


def _short(trace: Trace, asked: QuestionTrace) -> str:
    answer = _answered(asked)
    if asked.answers[0].word == UNKNOWN and (asked.not_told or not _is_needed(asked)):
        return f"It finds no answer in the story: {answer}."
    if not asked.basis.sentences:
        return f"It answers {answer} whatever single {trace.unit} is left out."
    return f"{_said(trace, asked.basis.sentences)}: {answer}."


def _answered(asked: QuestionTrace) -> str:
    """The answer and, if it is in doubt, how likely it and the next best are."""
    best, *others = asked.answers
    if best.probability >= SURE:
        return _quoted(best.word)
    return " or ".join(_likely(each) for each in (best, *filter(_is_likely, others[:1])))


def _is_needed(asked: QuestionTrace) -> bool:
    """Whether the answer would be another one without all that it is said to rest on."""
    return asked.basis.without.word != asked.answers[0].word


def _said(trace: Trace, steps: Sequence[int]) -> str:
    """Sentences said together or, of a word-level model, some of the story's words."""
    if trace.unit == "sentence":
        return said_together([(trace.sentences[t].text, number_of(trace, t)) for t in steps])
    words = [
        f"{_quoted(trace.sentences[t].tokens[-1])} ({number_of(trace, t)})" for t in sorted(steps)
    ]
    return f"The word{'s' if len(words) > 1 else ''} {listed(words)}"


def _spare(trace: Trace, asked: QuestionTrace) -> str:
    basis, answer = asked.basis, asked.answers[0].word
    told = set(basis.sentences)
    if told and not _is_needed(asked):
        if answer == UNKNOWN:
            return ""
        without = _likely(basis.without) if basis.without.probability < SURE else _quoted(answer)
        also = f"It would answer {without} without {_them(told)} too."
    elif found := told.intersection(basis.unused):
        also = f"It finds {_numbers(trace, found)} but does not need {_them(found)}."
    else:
        also = ""
    others = set(basis.unused) - told
    unused = f"It does not use {_numbers(trace, others)}." if others else ""
    return f"{also} {unused}".strip()


def _them(steps: Collection[int]) -> str:
    return "it" if len(steps) == 1 else "them"


def _doubt(trace: Trace, asked: QuestionTrace) -> str:
    words: dict[str, list[str]] = {}
    for word, kind in trace.new_words.items():
        words.setdefault(kind, []).append(_quoted(word))
    new = [
        f"{listed(some)} for {f'{kind}s' if len(some) > 1 else f'a {kind}'}"
        for kind, some in words.items()
    ]
    taken = f"New words: it takes {listed(new)}." if new else ""
    absent = ", ".join(map(_quoted, asked.not_told if trace.sentences else ()))
    absent = f"The story does not mention {absent}." if absent else ""
    return f"{absent} {taken}".strip()


def _numbers(trace: Trace, steps: Collection[int]) -> str:
    """Some sentences by their numbers: sentences 1, 4 and 5."""
    numbers = [str(number_of(trace, step)) for step in sorted(steps)]
    if len(numbers) > COUNTED:
        return f"{trace.unit}s {', '.join(numbers[:COUNTED])} and {len(numbers) - COUNTED} others"
    return f"{trace.unit}{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


def _tests(trace: Trace, asked: QuestionTrace) -> Iterator[str]:
    answer = asked.answers[0].word
    basis = asked.basis
    if basis.sentences:
        alone, without = _likely(basis.alone), _likely(basis.without)
        them = _them(basis.sentences)
        named = _numbers(trace, basis.sentences)
        yield f"With {named} alone it is {alone}, without {them} {without}."
    changed = [
        f"{number_of(trace, step)} it would be {_quoted(other)}"
        for step, other in needed(asked).items()
    ]
    if changed:
        yield f"Without {trace.unit} {', without '.join(changed)}."
    else:
        yield f"Without any one of the {trace.unit}s it would still be {_quoted(answer)}."


def _chain(asked: QuestionTrace, names: Sequence[str]) -> str:
    """What was found; empty if a step found a mixture, which has no name."""
    if not all(step.retrieved.is_node for step in asked.steps):
        return ""
    return " → ".join(name for name, _ in groupby(names))


def _name(trace: Trace, step: Step) -> tuple[str, bool]:
    """The name of what a step found, a node or what it is mixed of; and whether it is its opposite.

    The memory gives the opposite of a node for the opposite of a key, so that a sign is undone by
    the next relation and says nothing. So the first thing that is named is never the opposite.
    """
    found = step.retrieved
    if found.node is None:
        return "nothing", False
    if found.is_node:
        return node_name(trace, found.node), found.cosine < 0
    shares: dict[int, float] = {}
    weights: dict[int, float] = {}
    for origin in step.origins:
        shares[origin.node] = shares.get(origin.node, 0.0) + origin.share
        weights[origin.node] = weights.get(origin.node, 0.0) + origin.weight
    mixed = [node for node in shares if shares[node] >= NOTABLE]
    mixed.sort(key=lambda node: -shares[node])
    if not mixed:
        return "something without a name", False
    first, *others = mixed[:MENTIONED]
    if not others:  # not of its direction, but nothing else stands out
        return f"something like {node_name(trace, first)}", weights[first] < 0
    turned = weights[first] < 0
    signs = ("-" if (weights[node] < 0) != turned else "+" for node in others)
    added = (f" {sign} {node_name(trace, node)}" for sign, node in zip(signs, others, strict=True))
    return node_name(trace, first) + "".join(added), turned


def sources(trace: Trace, step: Step) -> list[Source]:
    """The sentences that told most of what a step found, with their shares, largest first."""
    shares = told_shares(step, len(trace.sentences))
    largest = sorted(enumerate(shares), key=lambda pair: -abs(pair[1]))
    return [
        Source(sentence, share) for sentence, share in largest[:MENTIONED] if abs(share) >= NOTABLE
    ]


def number_of(trace: Trace, step: int) -> int:
    """The number of a sentence as people count, in the whole story."""
    return trace.skipped + step + 1


def _told_by(trace: Trace, source: Source) -> str:
    told = "told" if source.share > 0 else "taken away"
    text = f"{abs(source.share):.0%} {told} by {number_of(trace, source.sentence)}: "
    text += trace.sentences[source.sentence].text
    return "     " + textwrap.shorten(text, WIDTH - 5, placeholder=" ...")


def _is_likely(answer: Answer) -> bool:
    return answer.probability >= NOTABLE


def _likely(answer: Answer) -> str:
    return f"{_quoted(answer.word)} ({answer.probability:.0%})"


def _quoted(answer: str) -> str:
    return f'"{answer}"'


def _guesses(step: Step) -> str:
    likely = [_likely(answer) for answer in step.answers if _is_likely(answer)]
    return " or ".join(likely[:MENTIONED]) or "no word in particular"


def _lead(asked: QuestionTrace) -> str:
    """Which steps make the answer win over the next best."""
    answer, rival = (guess.word for guess in asked.answers[:2])
    whole = sum(abs(step.margin) for step in asked.steps) or 1.0
    speaks_for: list[str] = []
    against: list[str] = []
    for number, step in enumerate(asked.steps, start=1):
        share = step.margin / whole
        if abs(share) >= NOTABLE / 2:
            (speaks_for if share > 0 else against).append(f"step {number} ({abs(share):.0%})")
    lead = f"For {_quoted(answer)} and not {_quoted(rival)} speaks {listed(speaks_for)}"
    return f"{lead}, against it {listed(against)}." if against else f"{lead}."


def needed(asked: QuestionTrace) -> dict[int, str]:
    """The sentences without which the answer would be another one, and which."""
    answer = asked.answers[0].word
    return {
        sentence: other.word
        for sentence, other in enumerate(asked.leave_one_out)
        if other.word != answer
    }


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
    """What to call a node: its name, or where it is first told."""
    if name := trace.nodes[node].name.text:
        return name
    sentence, part = trace.nodes[node].members[0]
    return f"[{part} of {trace.skipped + sentence + 1}]"


def _filled(text: str, indent: int) -> Sequence[str]:
    """Lines of a paragraph."""
    later = " " * (indent + 2)
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent, subsequent_indent=later)
