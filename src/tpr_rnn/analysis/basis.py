"""The sentences that an answer rests on: the few that are missed without, and enough alone.

What counts is the *lead* of the answer, its score minus that of the next best word: unlike its
probability it goes on growing where the model is sure. The search begins with the sentences without
which the answer changes, and those that told most of what an inference step found. It adds others,
the largest shares first, until the answer keeps most of its lead with these alone, and drops
again what is not missed. What the question names shall be told of in the end, unless the answer
does without. Every claim is tested by reading the story again with fewer sentences.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.analysis.schema import Step
from tpr_rnn.analysis.steps import Walk

ADDED = 16
"""So many sentences are added at most, whatever they tell."""


@dataclass(frozen=True)
class Rule:
    """When a sentence counts: the best of those that `benchmarks.explanation_rule` tries."""

    enough: float = 0.5
    """Sentences are enough if the answer keeps so much of its lead with them alone."""
    missed: float = 0.3
    """Sentences are missed if leaving them out costs so much of the lead."""
    mostly: float = 0.7
    """A sentence told most of what a step found from this share on."""


@dataclass(frozen=True)
class Search:
    """What an answer to a question is tested with."""

    walk: Walk
    answer: int
    """The number of the word."""
    shares: Float[Tensor, "s t"]
    """The share of each sentence in what each step found (`told_shares`)."""
    rule: Rule = Rule()

    def rests_on(self) -> tuple[int, ...]:
        """The sentences that the answer rests on, in the order in which the steps find them."""
        largest = self.shares.abs().amax(dim=0)
        mostly = (largest >= self.rule.mostly).nonzero().flatten().tolist()
        certain = self._changing() | set(mostly)
        order = largest.argsort(descending=True, stable=True).tolist()
        more = [sentence for sentence in order if sentence not in certain][:ADDED]
        tried = [certain.union(more[:count]) for count in range(len(more) + 1)]
        leads = self._leads(tried)
        enough = self.rule.enough * self._lead()
        first = next((n for n, lead in enumerate(leads) if lead >= enough), len(more))
        kept = self._without_the_spare(tried[first], leads[first], certain)
        for telling in self._untold(kept):
            if not telling & kept and not self._bears_without(telling):
                kept |= {min(telling, key=order.index)}
        step_of = self.shares.abs().argmax(dim=0).tolist()
        return tuple(sorted(kept, key=lambda sentence: (step_of[sentence], sentence)))

    def unused(self, found: Sequence[int], supports: Collection[int]) -> tuple[int, ...]:
        """What one would expect to be needed, and the answer does without.

        Those of the supports and of the sentences found, and all that tell of something in the
        question that none of those found tells of. All of them are left out together; if that is
        missed, none is called unused.
        """
        alone = self._lead_of(self.walk.left_out[: self.walk.told])
        spare = {
            sentence
            for sentence in {*found, *supports}
            if 0 <= sentence < self.walk.told and alone[sentence] >= self._bearable
        }
        for telling in self._untold(set(found)):
            if self._bears_without(telling):
                spare |= telling
        return tuple(sorted(spare)) if self._bears_without(spare) else ()

    def _without_the_spare(self, kept: set[int], lead: float, certain: set[int]) -> set[int]:
        """Drop, one after the other, the sentence that is missed least, until all are missed."""
        while kept > certain:
            spare = sorted(kept - certain)
            leads = self._leads([kept - {sentence} for sentence in spare])
            best = max(leads)
            if best < (1 - self.rule.missed) * lead:
                break
            kept, lead = kept - {spare[leads.index(best)]}, best
        return kept

    def _untold(self, kept: set[int]) -> list[set[int]]:
        """The sentences with each word of the question that none of those kept has."""
        return [set(telling) for telling in self.walk.telling if not kept.intersection(telling)]

    def _changing(self) -> set[int]:
        """The sentences without which the answer is another one."""
        leads = self._lead_of(self.walk.left_out[: self.walk.told])
        return {sentence for sentence, lead in enumerate(leads) if lead < 0}

    def _bears_without(self, left_out: set[int]) -> bool:
        (lead,) = self._leads([set(range(self.walk.told)) - left_out])
        return lead >= self._bearable

    @property
    def _bearable(self) -> float:
        return (1 - self.rule.missed) * self._lead()

    def _lead(self) -> float:
        return self._leads([set(range(self.walk.told))])[0]

    def _leads(self, subsets: Sequence[set[int]]) -> list[float]:
        return self._lead_of(self.walk.with_only([sorted(subset) for subset in subsets]))

    def _lead_of(self, logits: Float[Tensor, "n v"]) -> list[float]:
        others = logits.clone()
        others[:, [0, self.answer]] = -torch.inf  # 0: the padding, which is no answer
        leads: list[float] = (logits[:, self.answer] - others.amax(dim=1)).tolist()
        return leads


def told_shares(step: Step, sentences: int) -> list[float]:
    """The share of each sentence in what a step found, of all that it is made of.

    What was told may cancel. So the shares are of the sum of all sizes: they never exceed 1, and
    a negative one takes away.
    """
    shares = [0.0] * sentences
    for origin in step.origins:
        shares[origin.sentence] += origin.share
    whole = sum(map(abs, shares)) or 1.0
    return [share / whole for share in shares]
