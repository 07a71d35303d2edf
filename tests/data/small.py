"""Files of all tasks that the experiments with names need, small enough for tests."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tpr_rnn.data.babi import systematic
from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.simulator import tell

PAIRS, VALID_PAIRS = 15, 5
"""Stories with a new name, for each name and task."""


def write_tasks(directory: Path, tasks: Iterable[str], stories: int = 30) -> Path:
    """So many stories for validation and for the test, and twice as many to train on."""
    directory.mkdir(exist_ok=True)
    for task in tasks:
        texts = [format_story(tell(task, seed=seed)) for seed in range(4 * stories)]
        ends = {"train": 2 * stories, "valid": 3 * stories, "test": 4 * stories}
        begin = 0
        for split, end in ends.items():
            (directory / f"qa{task}_{split}.txt").write_text("".join(texts[begin:end]))
            begin = end
    return directory


@contextmanager
def few_pairs() -> Iterator[None]:
    """So many stories with a new name instead of hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systematic, "PAIRS", PAIRS)
        patch.setattr(systematic, "VALID_PAIRS", VALID_PAIRS)
        yield
