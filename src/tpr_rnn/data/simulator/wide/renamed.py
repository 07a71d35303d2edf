"""Stories of the official kind about anybody, anything and anywhere.

A task's own stories know four names, three things and six places. With others in their stead they
have the same answers, and nothing can be learned of a name but who bears it.
"""

import random
from collections.abc import Mapping

from tpr_rnn.data.names import with_names
from tpr_rnn.data.simulator.wide.words import (
    NAME_SLOTS,
    NAMES,
    PLACE_SLOTS,
    PLACES,
    PRONOUN_OF,
    THING_SLOTS,
    THINGS,
)
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import tokenize

FIXED: Mapping[str, tuple[str, ...]] = {
    "8": THINGS,
    "20": (*THINGS, *PLACES),
}
"""By task, words that stay: lists of things are answers of their own, and a motive has its own
thing and place."""


def renamed(task: str, story: Story, rng: random.Random) -> Story:
    """The story with other names, and as often as not with other things and places.

    "he" and "she" stay right: a name gives way to one of the same pronoun, or to a new word.
    """
    texts = (*story.sentences, *(question.text for question in story.questions))
    there = {word for text in texts for word in tokenize(text)} - set(FIXED.get(task, ()))
    new = rng.choice(("none", "some", "all"))
    others: dict[str, str] = {}
    for known, slots in ((NAMES, NAME_SLOTS), (THINGS, THING_SLOTS), (PLACES, PLACE_SLOTS)):
        if known is not NAMES and rng.random() < 0.5:
            continue
        words = (*(known if new != "all" else ()), *(slots if new != "none" else ()))
        free = rng.sample(words, len(words))
        for word in known:
            if word.lower() in there:
                pronoun = PRONOUN_OF.get(word)
                fits = (other for other in free if PRONOUN_OF.get(other, pronoun) == pronoun)
                others[word] = next(fits)
                free.remove(others[word])
    return with_names(story, others) if others else story
