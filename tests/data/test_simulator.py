import itertools
import math
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.simulator_reading import answer
from tpr_rnn.data import simulator
from tpr_rnn.data.babi.format import format_story, parse_stories, read_stories
from tpr_rnn.data.simulator import TASK_TITLES, StoryOptions, generate, tell
from tpr_rnn.data.simulator.options import Needs, resolve
from tpr_rnn.data.simulator.registry import TASKS, Task
from tpr_rnn.data.simulator.scene import Scene
from tpr_rnn.data.story import Story
from tpr_rnn.errors import UserError

ALL_TASKS = list(TASK_TITLES)
NAMED = [task for task in ALL_TASKS if TASKS[task].needs.names]
WITH_OBJECTS = [task for task in ALL_TASKS if TASKS[task].needs.objects]
WITH_PLACES = [task for task in ALL_TASKS if TASKS[task].needs.places]
WITH_LENGTH = [task for task in ALL_TASKS if TASKS[task].needs.story_length]

OFFICIAL = StoryOptions()

tasks = st.sampled_from(ALL_TASKS)
seeds = st.integers(min_value=0, max_value=2**64)


def stories(task: str, count: int, options: StoryOptions = OFFICIAL) -> list[Story]:
    return [tell(task, seed=seed, options=options) for seed in range(count)]


def small_sets(task: str, questions: int, seed: int = 0) -> dict[str, list[Story]]:
    """Sets with 20 test questions, for 1,000 take long while the types of each call are checked."""
    with patch.object(simulator.splits, "TEST_QUESTIONS", 20):
        return generate(task, questions=questions, seed=seed)


def words_of(story: Story) -> set[str]:
    return set(re.findall(r"\w+", format_story(story)))


def questions_in(told: list[Story]) -> int:
    return sum(len(story.questions) for story in told)


def test_all_twenty_tasks_have_their_official_names() -> None:
    assert [*TASK_TITLES] == [*map(str, range(1, 21))]
    assert TASK_TITLES["1"] == "single-supporting-fact"
    assert TASK_TITLES["13"] == "compound-coreference"
    assert TASK_TITLES["20"] == "agents-motivations"


@given(task=tasks, seed=seeds)
def test_a_story_reads_back_equal_from_its_text(task: str, seed: int) -> None:
    story = tell(task, seed=seed)
    assert story.questions
    assert parse_stories(format_story(story).splitlines(), "generated") == [story]


@settings(max_examples=20, deadline=None)
@given(task=tasks, seed=seeds, questions=st.integers(min_value=2, max_value=120))
def test_sets_of_any_size_have_exactly_the_questions_asked_for(
    task: str, seed: int, questions: int
) -> None:
    splits = small_sets(task, questions, seed)
    assert list(splits) == ["train", "valid", "test"]
    sizes = {name: questions_in(told) for name, told in splits.items()}
    valid = (questions + 9) // 10
    assert sizes == {"train": questions - valid, "valid": valid, "test": 20}
    for one, other in itertools.combinations(splits.values(), 2):
        assert not set(one) & set(other)
    for name, told in splits.items():
        for story in told:
            # Its text alone says where a story belongs, so that no other seed puts it elsewhere.
            assert simulator.splits.home(story) == name
            assert story.questions[-1].after == len(story.sentences)
            assert parse_stories(format_story(story).splitlines(), "generated") == [story]


@pytest.mark.parametrize("task", ALL_TASKS)
def test_the_answers_follow_from_the_story(task: str) -> None:
    for story in stories(task, 40):
        for question in story.questions:
            told = story.sentences[: question.after]
            assert answer(task, told, question.text) == question.answer, (told, question)


@pytest.mark.parametrize("task", [task for task in WITH_PLACES if task in NAMED])
def test_the_answers_follow_where_few_people_meet_all_the_time(task: str) -> None:
    crowded = StoryOptions(names=("Ann/she", "Bob/he"), places=("attic", "barn", "cave"))
    for story in stories(task, 25, crowded):
        for question in story.questions:
            told = story.sentences[: question.after]
            assert answer(task, told, question.text) == question.answer, (told, question)


@pytest.mark.parametrize("task", ALL_TASKS)
def test_the_supports_alone_give_the_answer(task: str) -> None:
    for story in stories(task, 40):
        for question in story.questions:
            supports = [story.sentences[position] for position in sorted(question.supports)]
            assert answer(task, supports, question.text) == question.answer, (supports, question)


# In tasks 7 and 8 whatever someone did with an object is a support, even if it changed nothing.
@pytest.mark.parametrize("task", [task for task in ALL_TASKS if task not in ("7", "8")])
def test_no_support_could_be_left_out(task: str) -> None:
    for story in stories(task, 40):
        for question in story.questions:
            for left_out in question.supports:
                rest = [
                    story.sentences[position]
                    for position in sorted(question.supports)
                    if position != left_out
                ]
                assert answer(task, rest, question.text) != question.answer, (rest, question)


@pytest.mark.parametrize("task", ["7", "8"])
def test_all_that_someone_did_with_objects_is_a_support(task: str) -> None:
    for story in stories(task, 40):
        for question in story.questions:
            who = question.text.split()[-2]
            with_objects = [
                position
                for position, sentence in enumerate(story.sentences[: question.after])
                if re.search(rf"\b{who}\b", sentence) and " to the " not in sentence
            ]
            assert sorted(question.supports) == with_objects


# How many different sentences and questions the official data have.
OFFICIAL_TYPES = {
    "1": (120, 4),
    "2": (264, 3),
    "3": (312, 18),
    "4": (120, 48),
    "5": (372, 42),
    "6": (264, 24),
    "7": (372, 4),
    "8": (264, 4),
    "9": (192, 24),
    "10": (288, 24),
    "11": (360, 4),
    "12": (360, 4),
    "13": (480, 4),
    "14": (960, 24),
    "15": (28, 4),
    "16": (40, 5),
    "17": (120, 120),
    "18": (42, 56),
    "19": (120, 30),
    "20": (140, 32),
}


@pytest.mark.parametrize("task", ALL_TASKS)
def test_the_language_is_as_large_as_the_official_one(task: str) -> None:
    told = stories(task, 500 if task in ("4", "16", "19") else 120)
    sentences = {sentence for story in told for sentence in story.sentences}
    questions = {question.text for story in told for question in story.questions}
    most_sentences, most_questions = OFFICIAL_TYPES[task]
    # So few stories need not have all of it, but they have most.
    assert 0.7 * most_sentences <= len(sentences) <= most_sentences
    assert 0.7 * most_questions <= len(questions) <= most_questions


@pytest.mark.skipif("TPR_RNN_DATA" not in os.environ, reason="TPR_RNN_DATA names no official data")
@pytest.mark.parametrize("task", ALL_TASKS)
def test_the_reader_of_these_tests_understands_the_official_stories(task: str) -> None:
    right = []
    for story in read_stories(Path(os.environ["TPR_RNN_DATA"]) / f"qa{task}_test.txt"):
        for question in story.questions:
            told = story.sentences[: question.after]
            right.append(answer(task, told, question.text) == question.answer)
    # A few official questions of task 5 have two answers.
    assert sum(right) / len(right) > 0.99


def test_the_same_seed_gives_the_same_bytes_in_every_process() -> None:
    program = (
        "import hashlib\n"
        "from tpr_rnn.data.babi.format import format_story\n"
        "from tpr_rnn.data.simulator import TASK_TITLES, generate, tell\n"
        "told = [tell(task, seed=seed) for task in TASK_TITLES for seed in range(10)]\n"
        "for task in ('7', '15', '16', '20'):\n"
        "    for stories in generate(task, questions=100, seed=3).values():\n"
        "        told += stories\n"
        "text = ''.join(format_story(story) for story in told)\n"
        "print(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(digests) == 1


def test_another_seed_tells_another_story() -> None:
    for task in ALL_TASKS:
        assert len(set(stories(task, 10))) > 5


def test_the_official_sizes_are_the_default() -> None:
    sizes = {name: questions_in(told) for name, told in generate("17").items()}
    assert sizes == {"train": 9_000, "valid": 1_000, "test": 1_000}


def test_the_test_set_does_not_depend_on_the_number_of_questions() -> None:
    assert small_sets("9", 20)["test"] == small_sets("9", 400)["test"]


def test_stories_of_another_seed_do_not_stand_in_the_test_set() -> None:
    # Task 4 has so few stories that a chance split would share many of them.
    assert not set(small_sets("4", 10, seed=1)["test"]) & set(
        small_sets("4", 2_000, seed=2)["train"]
    )


def test_a_twenty_first_task_is_one_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_story_only(scene: Scene) -> None:
        position = scene.say("all there is to say.")
        scene.ask("Is that all?", "yes", [position])

    monkeypatch.setitem(TASKS, "21", Task("21", "all-there-is", Needs(), one_story_only))
    splits = small_sets("21", 30)
    # With a single story, the sets cannot be kept apart, but they are as large as they should be.
    assert {name: len(told) for name, told in splits.items()} == {
        "train": 27,
        "valid": 3,
        "test": 20,
    }
    assert set(itertools.chain(*splits.values())) == {tell("21", seed=0)}


@pytest.mark.parametrize("task", NAMED)
def test_names_can_be_chosen(task: str) -> None:
    # Longer than any official name, and with the pronouns that task 11 needs.
    options = StoryOptions(names=("Wilhelmina/she", "Maximilian/he", "Philippa/she"))
    words = set().union(*map(words_of, stories(task, 20, options)))
    official = TASKS[task].needs.names
    assert official
    assert {"wilhelmina", "maximilian", "philippa"} <= {word.lower() for word in words}
    assert not words & {*official.official, *map(str.lower, official.official)}


@pytest.mark.parametrize("task", WITH_OBJECTS)
def test_objects_can_be_chosen(task: str) -> None:
    told = stories(task, 20, StoryOptions(objects=("lamp", "kettle", "violin", "drum")))
    words = set().union(*map(words_of, told))
    assert {"lamp", "kettle", "violin", "drum"} <= words
    assert not words & {"apple", "football", "milk", "box", "chocolate"}


@pytest.mark.parametrize("task", WITH_PLACES)
def test_places_can_be_chosen(task: str) -> None:
    places = ("attic", "cellar", "garage", "porch", "stable", "barn")
    words = set().union(*map(words_of, stories(task, 20, StoryOptions(places=places))))
    assert set(places) <= words
    assert not words & {"kitchen", "office", "garden", "hallway", "park", "school"}


@given(task=st.sampled_from(WITH_LENGTH), seed=seeds, length=st.integers(1, 60))
@settings(deadline=None)
def test_a_story_is_as_long_as_wished(task: str, seed: int, length: int) -> None:
    if task == "14":
        length = min(length, 16)  # four people, four times of day
    story = tell(task, seed=seed, options=StoryOptions(story_length=length))
    after = [question.after for question in story.questions]
    assert after[-1] >= length
    assert all(earlier < length for earlier in after[:-1])
    assert len(story.sentences) == after[-1]


@pytest.mark.parametrize(("questions", "length"), [(2, 30), (100, 200), (20, 1_000)])
def test_stories_of_a_wished_length_stay_whole(questions: int, length: int) -> None:
    told = generate("2", questions=questions, options=StoryOptions(story_length=length))
    valid = math.ceil(questions / 10)
    for name, asked in (("train", questions - valid), ("valid", valid), ("test", 1_000)):
        assert all(len(story.sentences) >= length for story in told[name])
        assert sum(len(story.questions) for story in told[name]) >= asked
    texts = [format_story(story) for stories in told.values() for story in stories]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("distractors", [0, 1, 3, 8])
def test_distractors_can_be_chosen(distractors: int) -> None:
    places = tuple("bcdefghijkl")
    for story in stories("19", 20, StoryOptions(places=places, distractors=distractors)):
        assert len(story.sentences) == 2 + distractors
        (question,) = story.questions
        assert answer("19", story.sentences, question.text) == question.answer


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("0", StoryOptions(), "there is no task 0; the tasks are 1 to 20"),
        ("21", StoryOptions(), "there is no task 21"),
        ("1", StoryOptions(names=()), "needs at least 1 names, not 0"),
        ("5", StoryOptions(names=("Ann",)), "needs at least 2 names, not 1"),
        ("12", StoryOptions(names=("Ann",)), "needs at least 2 names, not 1"),
        ("1", StoryOptions(places=("park",)), "needs at least 2 places, not 1"),
        ("12", StoryOptions(places=("park", "shop")), "needs at least 3 places, not 2"),
        ("18", StoryOptions(objects=("cup", "jug")), "needs at least 3 objects, not 2"),
        ("7", StoryOptions(objects=tuple("abcdefghijk")), "takes at most 10 objects, not 11"),
        ("1", StoryOptions(names=("Ann", "Ann")), "the name 'Ann' is given twice"),
        ("1", StoryOptions(names=("Ann", "ann")), "the name 'ann' is given twice"),
        ("1", StoryOptions(names=("Mary Ann",)), "'Mary Ann' is not a single word"),
        ("1", StoryOptions(names=("",)), "'' is not a single word"),
        ("1", StoryOptions(names=("R2D2",)), "'R2D2' is not a single word"),
        ("1", StoryOptions(names=("Kitchen",)), "'kitchen' is both a name and a place"),
        ("2", StoryOptions(objects=("garden",)), "'garden' is both an object and a place"),
        (
            "15",
            StoryOptions(names=("Mouse",)),
            "'Mouse' is both a word of the stories themselves and a",
        ),
        (
            "20",
            StoryOptions(names=("Apple",)),
            "'Apple' is both a word of the stories themselves and a",
        ),
        (
            "1",
            StoryOptions(names=("Where",)),
            "'Where' is both a word of the stories themselves and a",
        ),
        (
            "2",
            StoryOptions(objects=("there",)),
            "'there' is both a word of the stories themselves and an",
        ),
        ("1", StoryOptions(objects=("lamp",)), "has no objects to choose"),
        ("4", StoryOptions(names=("Ann",)), "has no names to choose"),
        ("17", StoryOptions(places=("park", "shop")), "has no places to choose"),
        ("16", StoryOptions(story_length=5), "has no story length to choose"),
        ("1", StoryOptions(distractors=3), "has no distractors to choose"),
        ("1", StoryOptions(story_length=0), "story length must be 1 or more, not 0"),
        ("14", StoryOptions(story_length=17), "story length must be 16 or less, not 17"),
        ("19", StoryOptions(distractors=-1), "distractors must be 0 or more, not -1"),
        ("19", StoryOptions(distractors=4), "needs 7 places, not 6"),
        ("19", StoryOptions(distractors=9), "at most 8 distractors"),
        ("11", StoryOptions(names=("Kim",)), "write 'Kim/he' or 'Kim/she'"),
        ("11", StoryOptions(names=("Kim/it",)), "must be 'he' or 'she', not 'it'"),
    ],
)
def test_impossible_wishes_are_clear_errors(task: str, options: StoryOptions, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        tell(task, seed=0, options=options)
    with pytest.raises(UserError, match=re.escape(message)):
        generate(task, questions=10, options=options)


@pytest.mark.parametrize("questions", [-1, 0, 1])
def test_too_few_questions_are_a_clear_error(questions: int) -> None:
    with pytest.raises(UserError, match=f"questions must be 2 or more .* not {questions}"):
        generate("1", questions=questions)


def test_every_wish_is_documented() -> None:
    source = Path(simulator.options.__file__).read_text()
    for field in fields(StoryOptions):
        assert re.search(rf'    {field.name}: .* = None\n    """', source)


def test_what_a_task_has_not_and_nobody_wished_for_is_left_out() -> None:
    cast = resolve(StoryOptions(), Needs(), "a task of nothing")
    assert (cast.names, cast.objects, cast.places) == ((), (), ())
    assert (cast.story_length, cast.distractors) == (None, 0)
