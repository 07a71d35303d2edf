import pytest

from data.wide_reading import answer
from tpr_rnn.data.simulator import tell
from tpr_rnn.data.simulator.wide import WIDE_TASKS


def check_answers(task: str, stories: int) -> None:
    for seed in range(stories):
        story = tell(task, seed=seed)
        assert story.questions
        for question in story.questions:
            told = story.sentences[: question.after]
            assert answer(told, question.text) == question.answer.lower(), (seed, told, question)


@pytest.mark.parametrize("task", WIDE_TASKS)
def test_the_answers_follow_from_the_text(task: str) -> None:
    check_answers(task, 5 if task == "wide-long" else 40)


@pytest.mark.slow
@pytest.mark.parametrize("task", WIDE_TASKS)
def test_the_answers_of_ten_thousand_stories_follow_from_the_text(task: str) -> None:
    check_answers(task, 1_000)
