"""The sentences that an answer rests on: the few that are missed without, and enough alone.

What counts is the *lead* of the answer, its score minus that of the next best word: unlike its
probability it goes on growing where the model is sure. The search begins with the sentences without
which the answer changes, and those that told most of what an inference step found. It adds others,
the largest shares first, until the answer keeps most of its lead with these alone, and drops
again what is not missed. Every claim is tested by reading the story again with fewer sentences.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tpr_rnn.analysis.schema import Step
from tpr_rnn.analysis.steps import Walk

ENOUGH = 0.6
"""Sentences are enough if the answer keeps so much of its lead with them alone."""

MISSED = 0.2
"""A sentence is missed if leaving it out costs so much of the lead."""

MOSTLY = 0.7
"""A sentence told most of what a step found from this share on."""

ADDED = 16
"""So many sentences are added at most, whatever they tell."""


@dataclass(frozen=True)
class Search:
    """What an answer to a question is tested with."""

    walk: Walk
    answer: int
    """The number of the word."""
    shares: Float[Tensor, "s t"]
    """The share of each sentence in what each step found (`told_shares`)."""

    def rests_on(self) -> tuple[int, ...]:
        """The sentences that the answer rests on, in the order in which the steps find them."""
        largest = self.shares.abs().amax(dim=0)
        certain = self._changing() | set((largest >= MOSTLY).nonzero().flatten().tolist())
        order = largest.argsort(descending=True, stable=True).tolist()
        more = [sentence for sentence in order if sentence not in certain][:ADDED]
        tried = [certain.union(more[:count]) for count in range(len(more) + 1)]
        leads = self._leads(tried)
        enough = ENOUGH * self._lead()
        first = next((n for n, lead in enumerate(leads) if lead >= enough), len(more))
        kept = self._without_the_spare(tried[first], leads[first], certain)
        step_of = self.shares.abs().argmax(dim=0).tolist()
        return tuple(sorted(kept, key=lambda sentence: (step_of[sentence], sentence)))

    def unused(self, found: Sequence[int], supports: Collection[int]) -> tuple[int, ...]:
        """Those of the supports, and of the sentences found, that the answer does without.

        All of them are left out together; if that is missed, none is called unused.
        """
        told = self.walk.told
        alone = dict(zip(range(told), self._lead_of(self.walk.left_out[:told]), strict=True))
        bearable = (1 - MISSED) * self._lead()
        spare = {
            sentence
            for sentence in {*found, *supports}
            if 0 <= sentence < told and alone[sentence] >= bearable
        }
        (lead,) = self._leads([set(range(told)) - spare])
        return tuple(sorted(spare)) if lead >= bearable else ()

    def _without_the_spare(self, kept: set[int], lead: float, certain: set[int]) -> set[int]:
        """Drop, one after the other, the sentence that is missed least, until all are missed."""
        while kept > certain:
            spare = sorted(kept - certain)
            leads = self._leads([kept - {sentence} for sentence in spare])
            best = max(leads)
            if best < (1 - MISSED) * lead:
                break
            kept, lead = kept - {spare[leads.index(best)]}, best
        return kept

    def _changing(self) -> set[int]:
        """The sentences without which the answer is another one."""
        changed = self.walk.left_out[: self.walk.told].argmax(dim=1) != self.answer
        return set(changed.nonzero().flatten().tolist())

    def _lead(self) -> float:
        return self._leads([set(range(self.walk.told))])[0]

    def _leads(self, subsets: Sequence[set[int]]) -> list[float]:
        return self._lead_of(self.walk.with_only([sorted(subset) for subset in subsets]))

    def _lead_of(self, logits: Float[Tensor, "n v"]) -> list[float]:
        others = logits.clone()
        others[:, self.answer] = -torch.inf
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
