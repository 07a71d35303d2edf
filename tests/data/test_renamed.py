import itertools
import random

import pytest

from data.simulator_reading import answer
from tpr_rnn.data.simulator import TASK_TITLES, tell
from tpr_rnn.data.simulator.wide.renamed import renamed
from tpr_rnn.data.simulator.wide.words import NAMES, PRONOUN_OF
from tpr_rnn.data.simulator.words import OBJECTS, PEOPLE
from tpr_rnn.data.vocabulary import tokenize


@pytest.mark.parametrize("task", TASK_TITLES)
def test_the_answers_are_right_under_other_names(task: str) -> None:
    rng = random.Random(task)
    for seed in range(20):
        story = renamed(task, tell(task, seed=seed), rng)
        told = [sentence.replace("-", "") for sentence in story.sentences]  # name-1 as one word
        for question in story.questions:
            found = answer(task, told[: question.after], question.text.replace("-", ""))
            assert found, (seed, told, question)
            assert found.lower() == question.answer.replace("-", "").lower(), (seed, question)


def test_anybody_takes_the_place_of_anybody_of_the_same_pronoun() -> None:
    rng = random.Random(0)
    names = set()
    for seed in range(60):
        told = renamed("11", tell("11", seed=seed), rng).sentences
        for first, second in itertools.pairwise(told):
            who, pronoun = first.split()[0], set(tokenize(second)) & {"he", "she"}
            names.add(who)
            assert PRONOUN_OF.get(who) in (None, *pronoun) or not pronoun
    assert len(names & set(NAMES)) > 12
    assert any(name.startswith("name-") for name in names)
    assert names - set(PEOPLE)


def test_things_that_make_lists_and_the_words_of_motives_stay() -> None:
    rng = random.Random(0)
    for seed in range(30):
        before, after = tell("8", seed=seed), renamed("8", tell("8", seed=seed), rng)
        assert [each.answer for each in after.questions] == [
            each.answer for each in before.questions
        ]
        motives = renamed("20", tell("20", seed=seed), rng)
        assert {each.answer for each in motives.questions} == {
            each.answer for each in tell("20", seed=seed).questions
        }
    assert any(
        set(tokenize(" ".join(renamed("2", tell("2", seed=seed), rng).sentences))).isdisjoint(
            OBJECTS
        )
        for seed in range(10)
    )
