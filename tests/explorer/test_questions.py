"""Suggested questions, the words that answer a kind of question, and the stories to look at."""

from functools import cache

import pytest

from analysis.handmade import task_1_reader
from tpr_rnn.data.vocabulary import Vocabulary, tokenize
from tpr_rnn.explorer.gallery import GALLERY, gallery_for
from tpr_rnn.explorer.questions import FittingQuestions
from tpr_rnn.models.reader import Answer
from tpr_rnn.pretrained import load_pretrained

MILK = next(list(each.sentences) for each in GALLERY if each.title == "Where is the milk?")


@cache
def bundled() -> FittingQuestions:
    return FittingQuestions(load_pretrained())


@cache
def reader():
    return load_pretrained()


def test_questions_are_about_what_the_story_tells() -> None:
    asked = bundled().about(MILK, {}, 12)
    assert "Where is the milk?" in asked
    assert len(asked) == len(set(asked)) <= 12
    told = {word for text in MILK for word in tokenize(text)}
    nouns = {"fred", "sandra", "football", "apple", "park", "school"}
    assert not nouns & {word for text in asked for word in tokenize(text)} - told


def test_what_nothing_in_the_story_supports_is_not_asked() -> None:
    story = ["Bill gave the milk to Mary.", "Mary handed the milk to Fred."]
    asked = bundled().about(story, {}, 40)
    assert "Who did Mary give the milk to?" in asked
    assert "What did Bill give to Fred?" not in asked  # in no sentence both
    assert not any("received" in text for text in bundled().about(MILK, {}, 40))


def test_a_map_is_not_asked_about_like_two_rooms() -> None:
    rooms = ["The kitchen is north of the garden.", "The office is south of the garden."]
    assert any(text.startswith("What is") for text in bundled().about(rooms, {}, 12))
    chain = ["The hallway is north of the office.", "The bathroom is east of the hallway."]
    more = ["The bedroom is east of the bathroom."]
    asked = bundled().about([*rooms, *chain, *more], {}, 12)
    assert asked
    assert all(text.startswith("How do you go") for text in asked)


def test_a_question_that_the_model_is_not_sure_of_is_not_suggested(monkeypatch) -> None:
    questions = FittingQuestions(task_1_reader())
    story = ["Mary went to the kitchen.", "John went to the garden."]
    assert questions.about(story, {}, 12) == ["Where is John?", "Where is Mary?"]
    for word, probability in (("kitchen", 0.89), ("mary", 1.0), ("unknown", 1.0)):
        guess = [Answer(word, probability)]
        monkeypatch.setattr(type(questions._reader), "answer", lambda *_, guess=guess, **__: guess)
        assert questions.about(story, {}, 12) == []


def test_nouns_that_a_task_lacks_take_the_place_of_its_own() -> None:
    known = task_1_reader()
    names = {"john": "greg", "kitchen": "cinema"}
    other = Vocabulary(known.vocabulary.words).renamed(names)
    questions = FittingQuestions(known)
    questions.tasks  # noqa: B018  (of the words as they were)
    object.__setattr__(known, "vocabulary", other)
    story = ["Greg went to the cinema.", "Mary went to the garden."]
    assert questions.about(story, {}, 12) == ["Where is Greg?", "Where is Mary?"]


@pytest.mark.parametrize(
    ("question", "among", "not_among"),
    [
        ("Where is the milk?", {"kitchen", "cinema"}, {"yes", "two", "mary"}),
        ("What color is Greg?", {"green", "gray"}, {"swan", "kitchen"}),
        ("How many objects is Mary carrying?", {"one", "none"}, {"kitchen", "yes"}),
        ("Is Mary in the kitchen?", {"yes", "no", "maybe"}, {"kitchen", "one"}),
    ],
)
def test_the_words_that_answer_a_kind_of_question(question, among, not_among) -> None:
    found = set(bundled().answers(question, reader()))
    assert among <= found
    assert not not_among & found


def test_a_kind_of_question_that_nobody_asks_is_answered_by_anything() -> None:
    assert bundled().answers("Kitchen where?", reader()) is None
    assert bundled().answers("", reader()) is None


def test_the_bundled_model_tells_most_of_the_gallery_and_all_of_it_is_right() -> None:
    shown = gallery_for(reader())
    assert 6 <= len(shown) <= len(GALLERY) == 8
    for story in shown:
        (question,) = story.questions
        assert question.after == len(story.sentences)
        assert reader().answer(story.sentences, question.text)[0].word == question.answer
        assert story.look_for
        assert all(0 <= number < question.after for number in question.supports)


def test_a_model_of_few_words_has_no_gallery() -> None:
    assert gallery_for(task_1_reader()) == ()
