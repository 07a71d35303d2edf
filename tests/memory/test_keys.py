"""Bounded keys: no sentence, however often it is repeated, makes the memory grow."""

import pytest
import torch

from memory.random_stories import SUBSETS
from tpr_rnn.memory import Associations, DenseMemory, Parts, bounded, sequential


def hard_sentences(count: int, seed: int) -> Parts:
    """Sentences whose keys have much to do with each other: few dimensions, equal entities."""
    generator = torch.Generator().manual_seed(seed)

    def vectors(size: int) -> torch.Tensor:
        scale = 3 * torch.rand(count, 1, 1, generator=generator)
        return scale.double() * torch.randn(count, 1, size, generator=generator).double()

    e1, e2, r1, r2, r3 = vectors(2), vectors(2), vectors(2), vectors(2), vectors(2)
    share = torch.rand(count, 1, 1, generator=generator).double()
    return Parts(e1, share * e1 + (1 - share) * e2, r1, torch.where(share < 0.3, -r1, r2), r3)


def growth(said: Parts, operations: tuple[str, ...]) -> torch.Tensor:
    """How far two memories that are told the same are apart after 40 times, against after 20."""
    sentence = Associations.of(**said._asdict())
    memories = [DenseMemory(x.expand(len(said.e1), 2, 2, 2)) for x in torch.eye(2).double()]
    apart = []
    for _ in range(2):
        for _ in range(20):
            memories = [
                sequential(sentence, operations=operations, state=memory)[1] for memory in memories
            ]
        apart.append((memories[0].tensor - memories[1].tensor).flatten(1).norm(dim=1))
    return apart[1] / apart[0].clamp(min=1e-3)


@pytest.mark.parametrize("operations", SUBSETS, ids="+".join)
def test_no_sentence_makes_the_memory_grow(operations) -> None:
    said = bounded(hard_sentences(3000, seed=1), operations)
    assert growth(said, operations).max() < 1.001


def test_without_bounds_and_with_too_distant_relations_it_does() -> None:
    operations = ("write", "move", "backlink")
    said = hard_sentences(3000, seed=1)
    assert growth(said, operations).max() > 1e6
    unbound = bounded(said, ("write",))  # lengths only
    assert growth(unbound, operations).max() > 1e3


def test_relations_that_are_near_enough_stay_as_they_are() -> None:
    e1, e2 = torch.eye(3)[:2].double().view(2, 1, 1, 3)
    r1, r2, r3 = torch.eye(3).double().view(3, 1, 1, 3)
    exact = Parts(e1, e2, r1, r2, r3)
    for operations in (("write",), ("write", "move"), ("write", "move", "backlink")):
        torch.testing.assert_close(bounded(exact, operations).r2, r2)


def test_a_full_swap_is_within_the_bounds() -> None:
    e1, e2 = torch.eye(3)[:2].double().view(2, 1, 1, 3)
    r1, r2, r3 = torch.eye(3).double().view(3, 1, 1, 3)
    before = DenseMemory(torch.randn(1, 3, 3, 3).double())
    said = bounded(Parts(e1, e2, 0 * r1, r1 - r2, 0 * r3), ("write", "backlink", "swap"))
    sentence = Associations.of(**said._asdict())
    _, after = sequential(sentence, operations=("write", "backlink", "swap"), state=before)
    expected = before.tensor.clone()
    expected[:, 0, [0, 1]] = before.tensor[:, 0, [1, 0]]
    torch.testing.assert_close(after.tensor, expected)


@pytest.mark.parametrize("operations", SUBSETS, ids="+".join)
def test_the_bounds_have_first_and_second_derivatives(operations) -> None:
    said = hard_sentences(5, seed=2)

    def of(*parts):
        return tuple(bounded(Parts(*parts), operations))

    inputs = tuple(part.requires_grad_() for part in said)
    assert torch.autograd.gradcheck(of, inputs)
    assert torch.autograd.gradgradcheck(of, inputs)


@pytest.mark.parametrize("operations", SUBSETS, ids="+".join)
def test_the_bounds_of_a_story_are_those_that_it_has_among_others(operations) -> None:
    batch = hard_sentences(40, seed=2)
    together = bounded(batch, operations)
    for story in range(0, 40, 13):
        alone = bounded(Parts(*(vectors[story] for vectors in batch)), operations)
        for one, among in zip(alone, together, strict=True):
            torch.testing.assert_close(one, among[story])
