"""New names in old stories: who stands where, and what must not be seen."""

import pytest

from data.small import PAIRS, VALID_PAIRS, few_pairs, write_tasks
from tpr_rnn.data.babi.format import format_story, parse_stories
from tpr_rnn.data.babi.swapped_names import SWAPPED_NAMES, SWAPS
from tpr_rnn.data.babi.systematic import (
    OLD_NAMES,
    PLANS,
    TASKS,
    introduce,
    trained_tasks,
)
from tpr_rnn.data.corpus import check_there_is, load_corpus
from tpr_rnn.data.names import with_names
from tpr_rnn.data.registry import find_mixture, is_one
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError

NEW = {name for plan in PLANS.values() for name in plan.names}


@pytest.fixture(scope="module", autouse=True)
def _few_pairs():
    with few_pairs():
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_tasks(tmp_path_factory.mktemp("stories"), TASKS)


@pytest.fixture(scope="module")
def corpora(data):
    return {name: load_corpus(data, name) for name in PLANS}


@pytest.fixture(scope="module")
def plain(data):
    """The stories as they are."""
    return {task: load_corpus(data, task).stories[task] for task in TASKS}


def told(stories) -> list[str]:
    return [format_story(story) for story in stories]


def undone(story: Story, name: str) -> set[tuple]:
    """What a story may have been before a new name came into it."""
    return {
        (old.sentences, old.questions)
        for old in (with_names(story, {name: one}) for one in OLD_NAMES)
    }


def pairs(stories) -> set[tuple]:
    return {
        (story.sentences[: asked.after], (asked,)) for story in stories for asked in story.questions
    }


@pytest.mark.parametrize("plan", PLANS)
def test_names_are_trained_in_as_many_tasks_as_planned(plan, corpora) -> None:
    drawn = trained_tasks(PLANS[plan])
    assert [len(tasks) for tasks in drawn.values()] == [8, 6, 4, 2, 1]
    corpus = corpora[plan]
    for task in TASKS:
        for split, count in (("train", PAIRS), ("valid", VALID_PAIRS)):
            texts = told(corpus.stories[task][split])
            for name, tasks in drawn.items():
                with_name = sum(name in text for text in texts)
                assert with_name == (count if task in tasks else 0), (name, task, split)
        assert not any(name in "".join(told(corpus.stories[task]["test"])) for name in NEW)
    assert {(each.name, each.task) for each in corpus.combinations} == {
        (name, task) for name in drawn for task in TASKS
    }
    assert all(each.trained == (each.task in drawn[each.name]) for each in corpus.combinations)


def test_the_rehearsal_has_other_names() -> None:
    assert set(PLANS["systematic"].names) == {"Alex", "Glenn", "Jordan", "Mike", "Logan"}
    assert PLANS["systematic"].names.keys().isdisjoint(PLANS["systematic-valid"].names)


@pytest.mark.parametrize("plan", PLANS)
def test_every_fifth_question_is_about_the_name_and_every_story_has_it(plan, corpora) -> None:
    for (name, _, _), stories in corpora[plan].combinations.items():
        assert len(stories) == PAIRS
        assert sum(name in story.questions[0].text for story in stories) == PAIRS // 5
        assert all(name in " ".join(story.sentences) for story in stories)
        assert all(len(story.questions) == 1 for story in stories)
        assert all(story.questions[0].after == len(story.sentences) for story in stories)
        others = NEW - {name}
        assert not any(other in text for text in told(stories) for other in others)


def test_nothing_leaks_from_one_set_to_another(corpora, plain) -> None:
    sources = {"systematic": "test", "systematic-valid": "valid"}
    for plan, split in sources.items():
        corpus = corpora[plan]
        for (name, task, _), stories in corpus.combinations.items():
            source = pairs(plain[task][split])
            assert all(undone(story, name) & source for story in stories)
    for task in TASKS:
        sets = corpora["systematic"].stories[task]
        for split in ("train", "valid"):
            official = plain[task][split]
            assert sets[split][: len(official)] == official
            source = pairs(official)
            for story in sets[split][len(official) :]:
                (name,) = {name for name in NEW if name in format_story(story)}
                assert undone(story, name) & source
        assert sets["test"] == plain[task]["test"]
        rehearsed = corpora["systematic-valid"].stories[task]
        assert rehearsed["test"] == plain[task]["valid"]
        train = plain[task]["train"]
        cut = len(train) - len(train) // 10
        assert rehearsed["train"][:cut] == train[:cut]
        assert rehearsed["valid"][: len(train) - cut] == train[cut:]
        assert not set(told(train[cut:])) & set(told(rehearsed["train"]))


def test_a_new_name_is_never_called_she(corpora) -> None:
    for (name, task, _), stories in corpora["systematic"].combinations.items():
        if task == "11":
            for story in stories:
                for sentence, following in zip(story.sentences, story.sentences[1:], strict=False):
                    assert not (name in sentence and " she " in following)


def test_the_same_stories_come_out_again(corpora, data) -> None:
    again = load_corpus(data, "systematic")
    assert again.sha256 == corpora["systematic"].sha256 != corpora["systematic-valid"].sha256
    assert again.combinations == corpora["systematic"].combinations


def test_a_split_alone_has_the_same_stories(corpora, data) -> None:
    alone = load_corpus(data, "systematic", ["valid"])
    assert alone.split("valid") == corpora["systematic"].split("valid")
    assert not alone.combinations


STORY = parse_stories(
    [
        "1 Mary went to the kitchen.",
        "2 John gave the milk to Mary.",
        "3 Where is Mary?\tkitchen\t1",
        "4 Daniel left.",
        "5 Who has the milk?\tmary\t2",
    ],
    "test",
)[0]


def test_a_name_is_replaced_everywhere_and_nothing_else_is() -> None:
    told = with_names(STORY, {"Mary": "Ann", "John": "Mary"})
    assert told.sentences == (
        "Ann went to the kitchen.",
        "Mary gave the milk to Ann.",
        "Daniel left.",
    )
    assert told.questions == (
        Question("Where is Ann?", "kitchen", 2, (0,)),
        Question("Who has the milk?", "ann", 3, (1,)),
    )
    assert with_names(STORY, {"Dan": "Ann", "kitch": "Ann"}) == STORY


def test_too_few_stories_are_named() -> None:
    with pytest.raises(UserError, match=r"lot: there are [0-4] questions"):
        introduce("Alex", [STORY], 5, "lot")


def test_stories_that_do_not_fit_are_refused(tmp_path) -> None:
    for task in TASKS:
        for split in ("train", "valid", "test"):
            (tmp_path / f"qa{task}_{split}.txt").write_text("1 Alex left.\n2 Who left?\talex\t1\n")
    check_there_is(tmp_path, "systematic")
    with pytest.raises(UserError, match="the name Alex is there already"):
        load_corpus(tmp_path, "systematic")
    with pytest.raises(UserError, match="nobody there is called Daniel"):
        load_corpus(tmp_path, "systematic-valid")
    (tmp_path / "qa13_valid.txt").unlink()
    (tmp_path / "qa13_train.txt").unlink()
    with pytest.raises(UserError, match="task 13 has no train and no valid file"):
        check_there_is(tmp_path, "systematic")


def test_the_plans_are_mixtures_and_no_tasks() -> None:
    for plan in PLANS:
        mixture = find_mixture(plan)
        assert mixture is not None
        assert mixture.tasks == TASKS
        assert not is_one(plan)
    assert find_mixture("1") is None
    assert is_one("1")
    assert not is_one("all")


def test_names_are_swapped_as_published() -> None:
    swapped = SWAPPED_NAMES.changed(
        {"1": [STORY], "5": [STORY], "14": [with_names(STORY, {"John": "Fred"})]}
    )
    assert list(swapped) == ["1", "14"]
    assert swapped["1"][0].sentences[1:] == ("Fred gave the milk to Mary.", "Bill left.")
    assert swapped["14"][0].sentences[1:] == ("John gave the milk to Mary.", "Daniel left.")
    assert list(SWAPS) == ["1", "2", "3", "6", "7", "8", "9", "10", "11", "12", "13", "14"]
