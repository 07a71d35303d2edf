"""Scores that ask for more than the test set does: new names, and questions with a change."""

from collections.abc import Mapping, Sequence

import torch

from tpr_rnn.data.dataset import Combination, Probe
from tpr_rnn.data.encoding import encode
from tpr_rnn.data.story import Story
from tpr_rnn.data.vocabulary import tokenize
from tpr_rnn.evaluation.record import NewName, ProbePart, ProbeScore
from tpr_rnn.evaluation.scoring import Scores, percent, score
from tpr_rnn.models.reader import Reader


class Evaluator:
    """A model with all that scoring it takes."""

    def __init__(
        self,
        reader: Reader,
        max_sentences: Mapping[str, int],
        device: torch.device | None = None,
    ) -> None:
        """Keep what scoring takes; `max_sentences` are the caps (`Corpus.max_sentences`)."""
        self.reader, self.max_sentences, self.device = reader, max_sentences, device

    def scores(self, stories_of: Mapping[str, Sequence[Story]]) -> Scores:
        """Loss and errors on the stories of some tasks."""
        model = self.reader.model
        encoded = encode(
            stories_of, self.reader.vocabulary, model.config.max_words, self.max_sentences
        )
        return score(model, encoded, self.device)

    def new_names(
        self, combinations: Mapping[Combination, Sequence[Story]]
    ) -> dict[str, dict[str, NewName]]:
        """How the stories of each new name fare in each task."""
        found: dict[str, dict[str, NewName]] = {}
        for (name, task, trained), stories in combinations.items():
            asked = [
                story for story in stories if name.lower() in tokenize(story.questions[0].text)
            ]
            found.setdefault(name, {})[task] = NewName(
                trained=trained,
                accuracy=self._accuracy(task, stories),
                asked_accuracy=self._accuracy(task, asked),
            )
        return found

    def probe(self, stories_of: Mapping[str, Sequence[Story]], probe: Probe) -> ProbeScore:
        """Errors with the stories as they are and changed; all questions count alike."""
        plain = self.scores(
            {task: told for task, told in stories_of.items() if task in probe.tasks}
        )
        changed = self.scores(probe.changed(stories_of))
        return ProbeScore(
            error=percent(changed.pooled_error),
            plain_error=percent(plain.pooled_error),
            per_part={
                task: ProbePart(
                    error=percent(changed.errors[task]), plain_error=percent(plain.errors[task])
                )
                for task in plain.errors
            },
        )

    def _accuracy(self, task: str, stories: Sequence[Story]) -> float:
        return percent(100 - self.scores({task: stories}).error)
