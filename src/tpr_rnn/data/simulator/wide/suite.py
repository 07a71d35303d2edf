"""A suite of wide questions, by kind: where does a model break?

Its stories come from seeds of their own. A longer story does not come twice by chance; of short
ones only those are taken whose text belongs to the test set, so that no run is trained on them.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

from tpr_rnn.data.simulator.options import Needs, StoryOptions, resolve
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.simulator.splits import home
from tpr_rnn.data.simulator.wide.telling import KNOWN, NEW, WORLDS, Manner, Words, tell
from tpr_rnn.data.simulator.wide.world import NOT_THERE, NOT_TOLD
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import tokenize

QUESTIONS = 400
"""Questions of each kind, or somewhat more."""
STORIES = 1_200
"""So many stories of a world are searched for questions of each kind."""
SHORT = 8

VARIATIONS: Mapping[str, Manner] = MappingProxyType(
    {
        "one sentence": Manner(sentences=(1, 1)),
        "sentences told twice": Manner(told_twice=0.5),
        "two worlds in a story": Manner(several=(2, 2), sentences=(6, 30)),
        "three worlds in a story": Manner(several=(3, 3), sentences=(9, 40)),
        **{
            f"{length} sentences": Manner(worlds=("walks", "things"), sentences=(length, length))
            for length in (50, 100, 200, 300)
        },
        "some words new": Manner(new_words="some"),
        "all words new": Manner(new_words="all"),
    }
)
"""Ways to tell a story. All other kinds are kinds of questions."""

_NOBODY = resolve(StoryOptions(), Needs(), "a wide story")  # its worlds have casts of their own


def suite(known: Callable[[str], bool], seed: int = 0) -> dict[str, list[Story]]:
    """Stories with the questions of each kind, in words that a model knows.

    Args:
        known: whether a model knows a word.
        seed: another one draws other stories.
    """
    kinds: dict[str, list[Story]] = {}
    for world in WORLDS:
        for story, asked in islice(_told(world, Manner(worlds=(world,)), known, seed), STORIES):
            for kind in dict.fromkeys(asked):
                chosen = (
                    question
                    for question, its in zip(story.questions, asked, strict=True)
                    if its == kind
                )
                kinds.setdefault(kind, []).append(story._replace(questions=tuple(chosen)))
    for stories in kinds.values():  # those of several worlds together
        random.Random(seed).shuffle(stories)
    ends = {kind: kinds.pop(kind) for kind in (NOT_TOLD, NOT_THERE) if kind in kinds}
    ways = {
        name: (story for story, _ in _told(name, manner, known, seed))
        for name, manner in VARIATIONS.items()
    }
    told = {name: _first(stories, QUESTIONS) for name, stories in {**kinds, **ends, **ways}.items()}
    return {name: stories for name, stories in told.items() if stories}


def _told(
    name: str, manner: Manner, known: Callable[[str], bool], seed: int
) -> Iterator[tuple[Story, list[str]]]:
    """Stories in known words, and the kinds of their questions."""
    words = Words(*(tuple(word for word in each if known(word.lower())) for each in KNOWN))
    slots = all(known(word) for each in NEW for word in each)
    if min(map(len, words)) < 4 or (manner.new_words != "none" and not slots):
        return
    manner = replace(manner, words=words)
    rng = random.Random(f"suite, {name}, seed {seed}")
    while True:
        scene = Scene(rng, _NOBODY)
        kinds = tell(scene, manner)
        story = scene.story()
        texts = (*story.sentences, *(question.text for question in story.questions))
        if all(known(word) for text in texts for word in tokenize(text)) and (
            len(story.sentences) > SHORT or home(story) == "test"
        ):
            yield story, kinds


def _first(stories: Iterable[Story], questions: int) -> list[Story]:
    """The first stories, with so many questions in all."""
    asked = 0
    chosen = []
    for story in stories:
        if asked >= questions:
            break
        chosen.append(story)
        asked += len(story.questions)
    return chosen
