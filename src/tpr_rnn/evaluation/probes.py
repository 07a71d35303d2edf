"""Scores that ask for more than the test set does: new names, swapped names. As `result.json` has
them."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from tpr_rnn.data.corpus import Combination
from tpr_rnn.data.encoding import StoryCap, encode
from tpr_rnn.data.story import Story
from tpr_rnn.data.swapped_names import SWAPS, swap_names
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.evaluation.scoring import Scores, score
from tpr_rnn.models.reader import Reader


class Evaluator:
    """A model with all that scoring it takes."""

    def __init__(self, reader: Reader, cap: StoryCap, device: torch.device | None = None) -> None:
        self.reader, self.cap, self.device = reader, cap, device

    def scores(self, stories_of: Mapping[str, Sequence[Story]]) -> Scores:
        """Loss and errors on the stories of some tasks."""
        model = self.reader.model
        encoded = encode(stories_of, self.reader.vocabulary, model.config.max_words, self.cap)
        return score(model, encoded, self.device)

    def new_names(
        self, combinations: Mapping[Combination, Sequence[Story]]
    ) -> dict[str, dict[str, dict[str, Any]]]:
        """Accuracy in percent, by name and task: of all questions, and of those about the name."""
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for (name, task, trained), stories in combinations.items():
            asked = [
                story for story in stories if name.lower() in tokenize(story.questions[0].text)
            ]
            found.setdefault(name, {})[task] = {
                "trained": trained,
                "accuracy": self._accuracy(task, stories),
                "asked_accuracy": self._accuracy(task, asked),
            }
        return found

    def swapped_names(self, stories_of: Mapping[str, Sequence[Story]]) -> dict[str, Any]:
        """Errors in percent with the names as they are and swapped; all questions count alike."""
        plain = self.scores({task: told for task, told in stories_of.items() if task in SWAPS})
        swapped = self.scores(swap_names(stories_of))
        return {
            "plain_error": round(plain.pooled_error, 4),
            "swapped_error": round(swapped.pooled_error, 4),
            "per_task": {
                task: {
                    "plain_error": round(plain.errors[task], 4),
                    "swapped_error": round(swapped.errors[task], 4),
                }
                for task in plain.errors
            },
        }

    def _accuracy(self, task: str, stories: Sequence[Story]) -> float:
        return round(100 - self.scores({task: stories}).error, 4)
