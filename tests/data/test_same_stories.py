"""A seed tells the stories that it told before: records know generated stories by a checksum.

Who changes what is told on purpose says so in the changelog, for results on generated stories can't
be repeated with the new ones, and puts the new checksums here.
"""

import hashlib

import pytest

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.recall import RECALL_TASKS
from tpr_rnn.data.simulator import TASK_TITLES, tell
from tpr_rnn.data.simulator.wide import WIDE_TASKS
from tpr_rnn.data.simulator.wide import suite as suite_module

TOLD = {
    "1": "e96b6437",
    "2": "1eae86f2",
    "3": "376b679b",
    "4": "bdf1a881",
    "5": "c95b7017",
    "6": "690bd596",
    "7": "bb496fd4",
    "8": "ab1266f3",
    "9": "734155ad",
    "10": "7009c8ab",
    "11": "12585deb",
    "12": "4b223ea5",
    "13": "3e9770a5",
    "14": "6531e57f",
    "15": "92825ea3",
    "16": "f6421075",
    "17": "7f901bc1",
    "18": "ef60ac2b",
    "19": "18361b12",
    "20": "afb52fb0",
    "wide-walks": "06bb878a",
    "wide-things": "626353c9",
    "wide-times": "34b189af",
    "wide-kinds": "0cad76fa",
    "wide-rooms": "39ec027b",
    "wide-shapes": "e0b0c252",
    "wide-sizes": "8964e4ed",
    "wide-motives": "de7aacee",
    "wide-mixed": "d17bd566",
    "wide-long": "84576f6d",
}
"""By task, of its stories of the first seeds."""
SUITE = "7c49c502"


def checksum(texts) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]


@pytest.mark.parametrize("task", [*TASK_TITLES, *WIDE_TASKS])
def test_a_seed_tells_what_it_told_before(task) -> None:
    stories = [tell(task, seed=seed) for seed in range(10 if task == "wide-long" else 60)]
    assert checksum(map(format_story, stories)) == TOLD[task]


def test_the_suite_of_wide_questions_asks_what_it_asked_before(monkeypatch) -> None:
    monkeypatch.setattr(suite_module, "QUESTIONS", 6)
    monkeypatch.setattr(suite_module, "STORIES", 20)
    kinds = suite_module.suite(lambda word: True)
    told = [f"{kind}\n{format_story(story)}" for kind, of in kinds.items() for story in of]
    assert checksum(told) == SUITE


def test_the_tasks_for_layers_are_those_that_they_were() -> None:
    names = (
        "one-key-8 one-key-16 one-key-32 two-keys-12 two-keys-36 both-ways-4 both-ways-8 "
        "before-last-4 before-last-8 hops-1 hops-2 hops-3 hops-4 permute-3 permute-5"
    )
    assert " ".join(RECALL_TASKS) == names
