"""The work that is measured: batches of generated stories in the paper's sizes."""

from dataclasses import dataclass

import numpy as np

from tpr_rnn.data.batches import Batch, epoch_order, make_batch
from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.registry import BUILT_IN
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.models import TPRRNNConfig


@dataclass(frozen=True)
class Case:
    """A model and the batches that it is trained on."""

    name: str
    config: TPRRNNConfig
    batches: list[Batch]
    """As a recipe of ours draws them: stories, each with its questions."""
    by_question: list[Batch]
    """As the released code draws them: questions, each with a story of its own."""


def single_task(task: str, batches: int) -> Case:
    """Task 1, 2 or 3 in the paper's single-task sizes: E 15, R 10, H the vocabulary, batch 128."""
    return _case(f"task-{task}", [task], batches, (128, 128), questions=2_000)


def all_tasks(batches: int) -> Case:
    """The mixture of all tasks in the paper's sizes: E 40, R 20, H 90.

    The released code has batches of 32, our recipe of 512.
    """
    sizes = {"hidden_size": 90, "entity_size": 40, "relation_size": 20}
    return _case("all-tasks", list(TASK_TITLES), batches, (512, 32), questions=500, **sizes)


def story_for_each_question(batch: Batch) -> Batch:
    """The same batch with every question in a row of its own, as if no story had several."""
    return batch._replace(groups=tuple(group.for_each_question() for group in batch.groups))


def _case(
    name: str,
    tasks: list[str],
    batches: int,
    batch_sizes: tuple[int, int],
    questions: int,
    **sizes: int,
) -> Case:
    by_task = {task: generate(task, questions=questions)["train"] for task in tasks}
    stories = [story for each in by_task.values() for story in each]
    vocabulary, words = build_vocabulary(stories), longest_sentence(stories)
    data = encode(by_task, vocabulary, words, BUILT_IN.max_sentences(by_task))
    config = TPRRNNConfig.from_json(
        {"vocabulary_size": len(vocabulary), "max_words": words, "bounded_keys": True, **sizes}
    )
    orders = epoch_order(data, seed=0, epoch=0), np.random.default_rng(0).permutation(len(data))
    by_story, by_question = (
        [make_batch(data, order[i * size : (i + 1) * size]) for i in range(batches)]
        for order, size in zip(orders, batch_sizes, strict=True)
    )
    return Case(name, config, by_story, list(map(story_for_each_question, by_question)))
