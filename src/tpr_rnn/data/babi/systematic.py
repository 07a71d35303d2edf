"""Systematic generalisation as data: new names that are known from some tasks and tested in all.

The paper joins the eight tasks that speak of the same four people and adds five new names. The
training stories show Alex in 8 of the tasks, Glenn in 6, Jordan in 4, Mike in 2 and Logan in 1; the
test asks about each of them in all tasks. What it leaves open is settled here:

- A story with a new name is an official one in which the new name stands in the place of one of
  the four, everywhere. It has one question, and as many sentences as were told before it.
- Training stories come from official training stories, validation from validation, test from test.
  Within a name and task they are different questions; the story as it was stays in its set too.
- In every fifth story the question is about the new name. In the others the new name is one of the
  people that were spoken of, and the question is about somebody else.
- The new names are all "he": who was called "she" in a story (task 11) is not replaced there.
- The tasks that a name is trained in are drawn by lot, once, and are the same for every run.
- Validation, which chooses the best weights of a run, has new names in trained tasks alone.

To choose settings there is a rehearsal: the same with other names and without a look at the test
set. Its test stories are the official validation stories, and its validation stories are the last
tenth of the official training stories.
"""

import hashlib
import random
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.dataset import SPLITS, Combination, Corpus, Mixture, Source, Splits
from tpr_rnn.data.names import with_names
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.errors import UserError

TASKS = ("1", "6", "7", "8", "9", "11", "12", "13")
"""The tasks that are joined: a question in them is about one of the old names."""
OLD_NAMES = ("Daniel", "John", "Mary", "Sandra")
PAIRS = 500
"""Stories with one question each, for a name and a task."""
VALID_PAIRS = 100
"""The same for validation; the paper does not speak of it."""
ASKED_SHARE = 0.2
"""In so many of them the question is about the new name."""


class Plan(NamedTuple):
    """An experiment: its new names, and where its stories come from."""

    names: Mapping[str, int]
    """The new names, and in how many tasks each is trained."""
    held_out: bool
    """Whether it does without the official test set."""


PLANS: Mapping[str, Plan] = {
    "systematic": Plan({"Alex": 8, "Glenn": 6, "Jordan": 4, "Mike": 2, "Logan": 1}, held_out=False),
    "systematic-valid": Plan(
        {"Adam": 8, "Peter": 6, "Simon": 4, "Victor": 2, "Oscar": 1}, held_out=True
    ),
}
"""By the name that takes the place of a task's number: the paper's experiment and its rehearsal."""


def trained_tasks(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The tasks that each new name is trained in, drawn by lot."""
    return {
        name: tuple(sorted(random.Random(f"tasks of {name}").sample(TASKS, count), key=TASKS.index))
        for name, count in plan.names.items()
    }


def mix(plan: Plan, source: Source, splits: Collection[str]) -> Corpus:
    """The joined tasks with the stories of the new names."""
    needed = ("train", "valid") if plan.held_out else SPLITS
    stories: dict[str, Splits] = {}
    combinations: dict[Combination, list[Story]] = {}
    trained = trained_tasks(plan)
    for task in TASKS:
        loaded = source.load(task, needed)
        official = loaded.stories[task]
        if plan.held_out:
            official = _held_out(official)
        _check(official["train"], f"task {task} of {source.place}", plan)
        stories[task] = {
            "train": list(official["train"]),
            "valid": list(official["valid"]),
            "test": official["test"],
        }
        for new in plan.names:
            lot = f"{new} in task {task}"
            if task in trained[new]:
                for split, count in (("train", PAIRS), ("valid", VALID_PAIRS)):
                    stories[task][split] += introduce(
                        new, official[split], count, f"{lot}, {split}"
                    )
            combination = Combination(new, task, task in trained[new])
            combinations[combination] = introduce(new, official["test"], PAIRS, f"{lot}, test")
    checksum = hashlib.sha256()
    for sets in stories.values():
        for told in sets.values():
            checksum.update("".join(map(format_story, told)).encode())
    for told in combinations.values():
        checksum.update("".join(map(format_story, told)).encode())
    kept = {
        task: {split: told for split, told in sets.items() if split in splits}
        for task, sets in stories.items()
    }
    tested = combinations if "test" in splits else {}
    return Corpus(loaded.name, source.data_set, kept, checksum.hexdigest(), {}, combinations=tested)


MIXTURES = {
    name: Mixture(
        tasks=TASKS,
        mix=partial(mix, plan),
        preset="systematic",
        experiment=name,
        substitutes=False,
    )
    for name, plan in PLANS.items()
}


def introduce(name: str, stories: Sequence[Story], count: int, lot: str) -> list[Story]:
    """Stories with one question each, in which a new name stands in the place of an old one.

    Args:
        name: the new name.
        stories: the official stories of one task and split.
        count: how many to make; too few official ones are an error.
        lot: what the choice depends on, and what error messages call it.
    """
    rng = random.Random(lot)
    pairs = [(story, question) for story in stories for question in story.questions]
    rng.shuffle(pairs)
    missing = {True: round(count * ASKED_SHARE)}
    missing[False] = count - missing[True]
    made: list[Story] = []
    for story, question in pairs:
        pair = Story(story.sentences[: question.after], (question,))
        asked, others = _replaceable(pair)
        for about_it, names in ((True, asked), (False, others)):
            if names and missing[about_it]:
                made.append(with_names(pair, {rng.choice(names): name}))
                missing[about_it] -= 1
                break
        if not any(missing.values()):
            return made
    raise UserError(
        f"{lot}: there are {len(made)} questions in which {name} can take somebody's place, and "
        f"{count} are needed; the official 10k files have enough"
    )


def _replaceable(pair: Story) -> tuple[list[str], list[str]]:
    """The people of a story whose place a new name can take: those asked about, and the others."""
    told = [_people(sentence) for sentence in pair.sentences]
    she = {
        name
        for names, following in zip(told, pair.sentences[1:], strict=False)
        if _speaks_of_her(following)
        for name in names
    }
    there = sorted({name for names in told for name in names} - she)
    asked = _people(pair.questions[0].text)
    return [name for name in there if name in asked], [name for name in there if name not in asked]


@cache  # there are many stories, but few different sentences
def _people(text: str) -> tuple[str, ...]:
    return tuple(name for name in OLD_NAMES if re.search(rf"\b{name}\b", text))


@cache
def _speaks_of_her(text: str) -> bool:
    return "she" in tokenize(text)


def _held_out(official: Splits) -> Splits:
    """The sets of a rehearsal: as if the official validation set were the test set."""
    train = official["train"]
    last = max(1, len(train) // 10)
    return {"train": train[:-last], "valid": train[-last:], "test": official["valid"]}


def _check(stories: Sequence[Story], place: str, plan: Plan) -> None:
    """Refuse stories that know a new name already, or that do not speak of the old ones."""
    texts = {text for story in stories for text in story.sentences}
    words = {word for text in texts for word in tokenize(text)}
    known = [name for name in plan.names if name.lower() in words]
    if known:
        raise UserError(
            f"{place}: the name {known[0]} is there already; the experiment needs stories of "
            f"{', '.join(OLD_NAMES)} alone, as the official ones are"
        )
    if not any(map(_people, texts)):
        raise UserError(
            f"{place}: nobody there is called {', '.join(OLD_NAMES)}; the experiment needs the "
            "official English stories, not the shuffled ones"
        )
