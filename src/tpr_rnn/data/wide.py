"""Wide stories as training data, alone or beside the tasks that they widen.

Wide stories (simulator/wide) are generated at the start of a run, always the same ones. With the
tasks come more generated stories of the official kind too: official files have 9,000 questions a
task, and some tasks are learned surely only from more. Half of these are told of other people,
things and places than the files', or names would stay bound to the tasks that have them.
"""

import hashlib
import itertools
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.babi.substitutes import as_told
from tpr_rnn.data.dataset import ALL, GENERATED, SPLITS, Corpus, Mixture, Source, Splits
from tpr_rnn.data.simulator import generate
from tpr_rnn.data.simulator.wide import WIDE_TASKS
from tpr_rnn.data.simulator.wide.renamed import renamed
from tpr_rnn.data.story import Story

WIDE = "wide"
"""The task of a run on wide stories alone."""
ALL_AND_WIDE = "all+wide"
"""The task of a run on all tasks and on wide stories."""

WIDE_QUESTIONS = 100_000
"""Training questions of each wide task."""
MORE_QUESTIONS = 40_000
"""Generated training questions that each official task has more."""
VALID_QUESTIONS = 1_000
"""Validation questions of each wide task, give or take a story."""
SEED = 1
"""Not that of the stories that stand in for missing files: they are others."""


def mix(source: Source, splits: Collection[str], *, with_official: bool) -> Corpus:
    """Wide stories and, if they are wanted, those of all tasks."""
    wide = {name: _wide_task(name) for name in WIDE_TASKS}
    if with_official:
        corpus = _with_official(source, wide)
    else:
        name = "generated wide stories"
        corpus = Corpus(name, source.data_set, wide, _checksum("", wide), missing_files={})
    kept = {
        name: {split: sets[split] for split in SPLITS if split in splits}
        for name, sets in corpus.stories.items()
    }
    return replace(corpus, stories=kept)


MIXTURES = {
    WIDE: Mixture(
        tasks=(),
        mix=partial(mix, with_official=False),
        preset="bundled",
        experiment="wide",
        substitutes=True,
    ),
    ALL_AND_WIDE: Mixture(
        tasks=(ALL,),
        mix=partial(mix, with_official=True),
        preset="bundled",
        experiment="wide",
        substitutes=True,
        scored=ALL,  # for wide questions there is the suite
    ),
}


def _with_official(source: Source, wide: Mapping[str, Splits]) -> Corpus:
    official = source.load(ALL, SPLITS)
    substituted = dict(official.substituted)
    stories = dict(official.stories)
    for name, sets in official.stories.items():
        held_out = {as_told(story) for split in ("valid", "test") for story in sets[split]}
        generated = generate(name, questions=MORE_QUESTIONS * 10 // 9, seed=SEED)["train"]
        rng = random.Random(f"other words in task {name}, seed {SEED}")
        told = (renamed(name, story, rng) if rng.random() < 0.5 else story for story in generated)
        more = [story for story in told if as_told(story) not in held_out]
        stories[name] = {**sets, "train": [*sets["train"], *more]}
        if official.name != GENERATED:
            note = f"{len(more):,} generated stories more (simulator, seed {SEED})"
            substituted[name] = f"{substituted[name]}; {note}" if name in substituted else note
    stories |= wide
    return replace(
        official,
        name=f"{official.name} and wide stories",
        stories=stories,
        sha256=_checksum(official.sha256, stories),
        substituted=substituted,
    )


def _wide_task(name: str) -> dict[str, list[Story]]:
    told = generate(name, questions=WIDE_QUESTIONS * 10 // 9, seed=SEED)
    return {**told, "valid": _first(told["valid"], VALID_QUESTIONS)}


def _first(stories: Sequence[Story], questions: int) -> list[Story]:
    """The first stories, with so many questions in all."""
    asked = list(itertools.accumulate((len(story.questions) for story in stories), initial=0))
    return [story for story, before in zip(stories, asked, strict=False) if before < questions]


def _checksum(before: str, stories: Mapping[str, Mapping[str, Iterable[Story]]]) -> str:
    checksum = hashlib.sha256(before.encode())
    for sets in stories.values():
        for told in sets.values():
            checksum.update("".join(map(format_story, told)).encode())
    return checksum.hexdigest()
