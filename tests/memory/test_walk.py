"""Stories and inference steps in one call of the kernel, against the oracle, in float64."""

import pytest
import torch
from torch import Tensor

from tpr_rnn.memory import OPERATIONS, Associations, native, read, sequential

pytestmark = pytest.mark.skipif(not native.usable(torch.zeros(1)), reason=native.status())


def by_hand(
    said: Associations,
    asked: Tensor,
    question: Tensor,
    scale: Tensor | None,
    shift: Tensor | None,
    operations: tuple[str, ...],
    lengths: Tensor,
) -> Tensor:
    """Eq. 4-19, one sentence and one step at a time."""
    _, memory = sequential(said, operations=operations, lengths=lengths)
    entity, *relations = asked[question].split(
        [said.entity_size] + [said.relation_size] * steps_in(said, asked), dim=1
    )
    retrieved = []
    for step, relation in enumerate(relations):
        entity = read(memory, entity, relation)
        if scale is not None and shift is not None:
            centred = entity - entity.mean(dim=1, keepdim=True)
            deviation = (centred.square().mean(dim=1, keepdim=True) + 1e-7).sqrt()
            entity = centred / deviation * scale[step] + shift[step]
        retrieved.append(entity)
    return torch.stack(retrieved, dim=1)


def steps_in(said: Associations, asked: Tensor) -> int:
    return (asked.shape[1] - said.entity_size) // said.relation_size


def random_case(
    *, stories: int, time: int, sizes: tuple[int, int], steps: int = 3, norm: bool = True
) -> tuple[Associations, Tensor, Tensor, Tensor | None, Tensor | None, Tensor]:
    """Stories of few sentences and few questions, so that several share the same."""
    generator = torch.Generator().manual_seed(stories * 1000 + time)
    entity, relation = sizes

    def normal(*shape: int) -> Tensor:
        values = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (values / max(entity, relation) ** 0.5).requires_grad_()

    def chosen(most: int, *shape: int) -> Tensor:
        return torch.randint(most, shape, generator=generator)

    said = Associations(
        normal(7, 2 * entity + 3 * relation), chosen(7, stories, time), entity_size=entity
    )
    asked = normal(3, entity + steps * relation)
    scale, shift = (normal(steps), normal(steps)) if norm else (None, None)
    return said, asked, chosen(3, stories), scale, shift, chosen(time + 1, stories)


@pytest.mark.parametrize(
    "operations",
    [("write",), ("backlink",), ("write", "move"), ("write", "backlink"), OPERATIONS],
)
@pytest.mark.parametrize(
    ("stories", "time", "sizes", "steps", "norm"),
    [
        (4, 5, (15, 10), 3, True),
        (4, 5, (15, 10), 3, False),
        (3, 1, (1, 1), 1, False),
        (2, 0, (3, 2), 2, True),
        (5, 23, (16, 8), 4, True),
        (2, 40, (17, 9), 3, True),
    ],
)
def test_retrieves_what_the_oracle_does_with_the_same_gradients(
    stories, time, sizes, steps, norm, operations
) -> None:
    said, asked, question, scale, shift, lengths = random_case(
        stories=stories, time=time, sizes=sizes, steps=steps, norm=norm
    )
    arguments = (said, asked, question, scale, shift, operations, lengths)
    leaves = [leaf for leaf in (said.table, asked, scale, shift) if leaf is not None]
    weights = torch.randn(stories, steps, sizes[0], dtype=torch.float64)
    results = []
    for form in (by_hand, native.walk):
        retrieved = form(*arguments)
        gradients = torch.autograd.grad(
            (retrieved * weights).sum(), leaves, allow_unused=True, materialize_grads=True
        )
        results.append((retrieved, *gradients))
    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)


def test_a_question_that_does_not_fit_is_refused() -> None:
    said, asked, question, scale, shift, lengths = random_case(stories=2, time=3, sizes=(3, 2))
    with pytest.raises(RuntimeError, match="there is no question 9"):
        native.walk(said, asked, question + 9 - question, scale, shift, OPERATIONS, lengths)
    with pytest.raises(RuntimeError, match="is not an entity and relations"):
        native.walk(said, asked[:, :-1], question, scale, shift, OPERATIONS, lengths)


def test_second_derivatives_are_refused() -> None:
    said, *rest, lengths = random_case(stories=2, time=3, sizes=(3, 2))
    retrieved = native.walk(said, *rest, OPERATIONS, lengths)
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.grad(retrieved.sum(), said.table, create_graph=True)
