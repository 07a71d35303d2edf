"""The work that is measured: batches of generated stories in the paper's sizes."""

from dataclasses import dataclass

import numpy as np

from tpr_rnn.data.batches import Batch, make_batch
from tpr_rnn.data.encoding import StoryCap, build_vocabulary, encode, longest_sentence
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.models import TPRRNNConfig


@dataclass(frozen=True)
class Case:
    """A model and the batches that it is trained on."""

    name: str
    config: TPRRNNConfig
    batches: list[Batch]

    def sentences(self) -> list[list[int]]:
        """The lengths of the stories of each batch."""
        return [batch.groups[0].lengths.tolist() for batch in self.batches]


def single_task(task: str, batches: int) -> Case:
    """Task 1, 2 or 3 in the paper's single-task sizes: E 15, R 10, H the vocabulary, batch 128."""
    return _case(f"task-{task}", [task], batches, batch_size=128, questions=2_000)


def all_tasks(batches: int) -> Case:
    """The mixture of all tasks in the paper's sizes: E 40, R 20, H 90, batch 32."""
    sizes = {"hidden_size": 90, "entity_size": 40, "relation_size": 20}
    return _case("all-tasks", list(TASK_TITLES), batches, batch_size=32, questions=500, **sizes)


def _case(
    name: str, tasks: list[str], batches: int, batch_size: int, questions: int, **sizes: int
) -> Case:
    told = {task: generate(task, questions=questions)["train"] for task in tasks}
    stories = [story for each in told.values() for story in each]
    vocabulary, words = build_vocabulary(stories), longest_sentence(stories)
    data = encode(told, vocabulary, words, StoryCap())
    order = np.random.default_rng(0).permutation(len(data))
    config = TPRRNNConfig.from_json(
        {"vocabulary_size": len(vocabulary), "max_words": words, "bounded_keys": True, **sizes}
    )
    parts = (order[i * batch_size : (i + 1) * batch_size] for i in range(batches))
    return Case(name, config, [make_batch(data, part) for part in parts])
