from pathlib import Path

import pytest

from data.wide_reading import answer
from tpr_rnn.data import wide
from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.corpus import check_there_is, load_corpus
from tpr_rnn.data.simulator import StoryOptions, generate, splits, tell
from tpr_rnn.data.simulator.wide import WIDE_TASKS
from tpr_rnn.data.simulator.wide.words import NAMES, PLACES, THINGS, UNKNOWN
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.errors import UserError


def check_answers(task: str, stories: int) -> None:
    for seed in range(stories):
        story = tell(task, seed=seed)
        assert story.questions
        for question in story.questions:
            told = story.sentences[: question.after]
            found = answer(told, question.text)
            assert found == question.answer.lower(), (seed, told, question)


@pytest.mark.parametrize("task", WIDE_TASKS)
def test_the_answers_follow_from_the_text(task: str) -> None:
    check_answers(task, 3 if task == "wide-long" else 30)


@pytest.mark.slow
@pytest.mark.parametrize("task", WIDE_TASKS)
def test_the_answers_of_ten_thousand_stories_follow_from_the_text(task: str) -> None:
    check_answers(task, 1_000)


def test_some_questions_are_answered_by_nothing_that_was_told() -> None:
    for task in [name for name in WIDE_TASKS if name != "wide-long"]:
        asked = [question for seed in range(25) for question in tell(task, seed=seed).questions]
        unknown = sum(question.answer == UNKNOWN for question in asked)
        assert 0.03 < unknown / len(asked) < 0.6, task


def test_things_are_asked_after_by_place_and_people_by_what_no_world_tells() -> None:
    asked = [
        question
        for seed in range(150)
        for question in (
            *tell("wide-things", seed=seed).questions,
            *tell("wide-kinds", seed=seed).questions,
        )
    ]
    there = {each.answer for each in asked if each.text.startswith("Is the ")}
    assert {"yes", "no"} <= there
    elsewhere = [each for each in asked if each.text.startswith("Where will ")]
    assert {each.answer for each in elsewhere} == {UNKNOWN}


def test_animals_may_walk_about() -> None:
    def walk_and_are_something(seed: int) -> bool:
        told = tell("wide-mixed", seed=seed).sentences
        animals = {text.split()[0] for text in told if " is a " in text}
        return any(text.split()[0] in animals and " to the " in text for text in told)

    assert any(map(walk_and_are_something, range(150)))


def test_long_stories_are_long_and_can_be_longer() -> None:
    lengths = [len(tell("wide-long", seed=seed).sentences) for seed in range(12)]
    assert min(lengths) >= 40
    assert max(lengths) > 150
    story = tell("wide-things", seed=0, options=StoryOptions(story_length=200))
    assert len(story.sentences) >= 200


def test_half_of_the_stories_have_new_words() -> None:
    known = {word.lower() for word in (*NAMES, *THINGS, *PLACES)}
    new = 0
    for seed in range(100):
        words = set(tokenize(format_story(tell("wide-things", seed=seed))))
        slots = {word for word in words if word.startswith(("name-", "thing-", "place-"))}
        new += bool(slots)
        assert slots or words & known
    assert 35 < new < 65


def test_the_same_seed_generates_the_same_sets_and_no_story_stands_in_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splits, "TEST_QUESTIONS", 100)
    sets = generate("wide-mixed", questions=200)
    assert sets == generate("wide-mixed", questions=200)
    assert not set(sets["train"]) & set(sets["test"])


def test_wide_stories_are_training_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(splits, "TEST_QUESTIONS", 10)
    for size in ("WIDE_QUESTIONS", "MORE_QUESTIONS", "VALID_QUESTIONS"):
        monkeypatch.setattr(wide, size, 10)
    few = {name: WIDE_TASKS[name] for name in ("wide-rooms", "wide-things")}
    monkeypatch.setattr(wide, "WIDE_TASKS", few)
    corpus = load_corpus(None, "wide")
    assert [*corpus.stories] == [*few]
    assert corpus.sha256 == load_corpus(None, "wide", ["valid"]).sha256

    for task in ("1", "6"):
        for split, told in generate(task, questions=20).items():
            (tmp_path / f"qa{task}_{split}.txt").write_text("".join(map(format_story, told)))
    both = load_corpus(tmp_path, "all+wide")
    assert [*both.stories] == ["1", "6", *few]
    assert both.name == f"{tmp_path.name} and wide stories"
    assert sum(len(story.questions) for story in both.stories["1"]["train"]) > 18
    assert both.stories["1"]["valid"] == generate("1", questions=20)["valid"]
    assert "generated stories more" in both.substituted["1"]


def test_wide_stories_alone_need_no_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"such as all\+wide"):
        check_there_is(tmp_path, "wide")
