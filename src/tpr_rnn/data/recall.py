"""Small tasks that a memory should or should not solve: pairs are told, then it is asked.

One step tells one pair, and all questions come at the end. The names of the tasks say how much is
told: `one-key-64` has 64 pairs, `hops-3` asks for what is three steps away, `permute-5` has five
cups. Everything is drawn at random, so nothing can be known but from the story.
"""

import hashlib
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import TypeVar

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.dataset import GENERATED, SPLITS, Corpus, DataSet, Mixture, Source, Splits
from tpr_rnn.data.story import Question, Story

STORIES = {"train": 4_000, "valid": 125, "test": 250}
ASKED = 8
"""Questions a story, where it has so many to ask."""
KEYS, VALUES, GRID, NODES, ITEMS = 32, 16, 6, 12, 16
EDGES, SWAPS = 8, 8

Thing = TypeVar("Thing")


def _one_key(rng: random.Random, count: int) -> Story:
    """Recall by one key: k -> v."""
    pairs = {key: rng.randrange(VALUES) for key in rng.sample(range(KEYS), count)}
    return _story(
        [f"k{key} v{value}." for key, value in pairs.items()],
        [(f"k{key} ?", f"v{pairs[key]}") for key in _some(rng, pairs)],
    )


def _two_keys(rng: random.Random, count: int) -> Story:
    """Recall by two keys: (a, b) -> v, each of which alone says nothing."""
    places = {place: rng.randrange(VALUES) for place in rng.sample(range(GRID**2), count)}
    name = {place: f"a{place // GRID} b{place % GRID}" for place in places}
    return _story(
        [f"{name[place]} v{value}." for place, value in places.items()],
        [(f"{name[place]} ?", f"v{places[place]}") for place in _some(rng, places)],
    )


def _both_ways(rng: random.Random, count: int) -> Story:
    """Recall in both directions: x -> y is told, and both x ? and y ? are asked."""
    pairs = [(f"x{x}", f"y{y}") for x, y in zip(*_two_samples(rng, NODES, count), strict=True)]
    asked = [pair if rng.random() < 0.5 else pair[::-1] for pair in _some(rng, pairs)]
    return _story([f"{x} {y}." for x, y in pairs], [(f"{one} ?", other) for one, other in asked])


def _before_last(rng: random.Random, count: int) -> Story:
    """The value before the last: every key is told three times."""
    keys = rng.sample(range(KEYS), count)
    told = [(key, rng.randrange(VALUES)) for key in rng.sample(3 * keys, 3 * count)]
    values = {key: [value for other, value in told if other == key] for key in keys}
    return _story(
        [f"k{key} v{value}." for key, value in told],
        [(f"k{key} ?", f"v{values[key][-2]}") for key in _some(rng, keys)],
    )


def _hops(rng: random.Random, hops: int) -> Story:
    """What is so many steps away on a circle that is told in any order."""
    circle = rng.sample(range(NODES), EDGES)
    edges = [(node, circle[(place + 1) % EDGES]) for place, node in enumerate(circle)]
    places = _some(rng, range(EDGES))
    return _story(
        [f"x{one} x{other}." for one, other in rng.sample(edges, EDGES)],
        [(f"x{circle[place]} ?", f"x{circle[(place + hops) % EDGES]}") for place in places],
    )


def _permute(rng: random.Random, cups: int) -> Story:
    """Things under cups, two of which change places, again and again or never."""
    under = rng.sample(range(ITEMS), cups)
    told = [f"c{cup} i{item}." for cup, item in enumerate(under)]
    for _ in range(rng.randint(0, SWAPS)):
        one, other = rng.sample(range(cups), 2)
        under[one], under[other] = under[other], under[one]
        told.append(f"c{one} c{other} exchange.")
    return _story(told, [(f"c{cup} ?", f"i{item}") for cup, item in enumerate(under)])


KINDS: Mapping[str, tuple[Callable[[random.Random, int], Story], tuple[int, ...]]] = (
    MappingProxyType(
        {
            "one-key": (_one_key, (8, 16, 32)),
            "two-keys": (_two_keys, (12, 36)),
            "both-ways": (_both_ways, (4, 8)),
            "before-last": (_before_last, (4, 8)),
            "hops": (_hops, (1, 2, 3, 4)),
            "permute": (_permute, (3, 5)),
        }
    )
)
"""How a story of each kind is made, and from how much."""


def tasks_of(kind: str) -> dict[str, int]:
    """The names of the tasks of a kind, with how much each tells."""
    return {f"{kind}-{number}": number for number in KINDS[kind][1]}


RECALL_TASKS: tuple[str, ...] = tuple(task for kind in KINDS for task in tasks_of(kind))


@cache
def tell(task: str, split: str) -> tuple[Story, ...]:
    """The stories of a task, always the same ones."""
    kind, _, number = task.rpartition("-")
    make, _ = KINDS[kind]
    rng = random.Random(f"{task} {split}")
    return tuple(make(rng, int(number)) for _ in range(STORIES[split]))


def _mix(task: str, source: Source, splits: Collection[str]) -> Corpus:
    told: Splits = {split: list(tell(task, split)) for split in SPLITS}
    checksum = hashlib.sha256()
    for stories in told.values():
        checksum.update("".join(map(format_story, stories)).encode())
    kept = {task: {split: told[split] for split in SPLITS if split in splits}}
    return Corpus(GENERATED, RECALL, kept, checksum.hexdigest(), missing_files={})


def _story(told: list[str], asked: list[tuple[str, str]]) -> Story:
    questions = tuple(Question(text, answer, len(told)) for text, answer in asked)
    return Story(tuple(told), questions)


def _some(rng: random.Random, things: Collection[Thing]) -> list[Thing]:
    """Those that are asked about."""
    return rng.sample(list(things), min(ASKED, len(things)))


def _two_samples(rng: random.Random, most: int, count: int) -> Iterator[list[int]]:
    return (rng.sample(range(most), count) for _ in range(2))


RECALL = DataSet(
    name="recall",
    example="",
    find=lambda directory: {},
    read=lambda path: [],
    mixtures={
        task: Mixture(
            tasks=(), mix=partial(_mix, task), preset="layer", experiment="layer", substitutes=False
        )
        for task in RECALL_TASKS
    },
)
"""Only generated: no directory holds it."""
