"""`TPRMemory`: the third-order memory as a layer, used like `nn.LSTM(batch_first=True)`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tpr_rnn.memory import (
    ENTITIES,
    OPERATIONS,
    RELATIONS,
    Associations,
    DenseMemory,
    Parts,
    Queries,
    at_most_unit,
    check_operations,
    drawn_together,
    full_precision,
    parallel,
    unit,
)
from tpr_rnn.nn.state import MemoryState

if TYPE_CHECKING:
    from tpr_rnn.nn.attention import Attention


class Told(NamedTuple):
    """What the steps of a batch tell their memories, and what they ask; each head is a story."""

    associations: Associations
    queries: Queries
    lengths: Int[Tensor, " n"] | None


class TPRMemory(nn.Module):
    """Every step writes into a third-order memory, then walks through it in a few hops.

    A step is taken apart into e1, e2, r1, r2, r3, which it tells the memory (eq. 6-14), and n, l1,
    l2, ..., with which it reads what the memory holds after that (eq. 15-19). All steps are solved
    at once, and the gradients too; one at a time gives the same. Keys are bounded, and with them
    the memory, over any number of steps.
    """

    def __init__(
        self,
        input_size: int,
        *,
        entity_size: int = 32,
        relation_size: int = 16,
        heads: int = 1,
        hops: int = 3,
        operations: Iterable[str] = OPERATIONS,
        output_size: int | None = None,
    ) -> None:
        """Make a layer with fresh parameters.

        Args:
            input_size: features of each step.
            entity_size: E, of entities and of what is stored.
            relation_size: R; a head's memory is E x R x E numbers.
            heads: memories side by side, each with its own parts of every step.
            hops: reads that follow each other, each from what the last has found.
            operations: what a step does to the memory; `swap` is there too, and off by default.
            output_size: features of each output; None: as many as of the input.
        """
        super().__init__()
        sizes = (input_size, entity_size, relation_size, heads, hops)
        names = ("input_size", "entity_size", "relation_size", "heads", "hops")
        for name, size in zip(names, sizes, strict=True):
            if size < 1:
                raise ValueError(f"{name} must be 1 or more, not {size}")
        self.input_size, self.entity_size, self.relation_size, self.heads, self.hops = sizes
        self.operations = check_operations(operations)
        self.output_size = input_size if output_size is None else output_size
        entities, relations = len(ENTITIES) + 1, len(RELATIONS) + hops
        self.parts = nn.Linear(
            input_size, heads * (entities * entity_size + relations * relation_size)
        )
        self.scale = nn.Parameter(torch.ones(hops))  # of the layer norm after each hop
        self.shift = nn.Parameter(torch.zeros(hops))
        self.output = nn.Linear(heads * hops * entity_size, self.output_size)

    def extra_repr(self) -> str:
        """The settings, for `print`."""
        return (
            f"{self.input_size}, entity_size={self.entity_size}, "
            f"relation_size={self.relation_size}, heads={self.heads}, hops={self.hops}, "
            f"operations={self.operations}, output_size={self.output_size}"
        )

    def empty_state(self, batch: int) -> MemoryState:
        """The memories of stories that have not begun; what `state=None` stands for."""
        e, r = self.entity_size, self.relation_size
        like = self.parts.weight
        return MemoryState(
            like.new_zeros(batch, self.heads, e, r, e, dtype=full_precision(like.dtype))
        )

    def forward(
        self,
        x: Float[Tensor, "b t i"],
        state: MemoryState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
        write_mask: Bool[Tensor, "b t"] | None = None,
        read_mask: Bool[Tensor, "b t"] | None = None,
    ) -> tuple[Float[Tensor, "b t o"], MemoryState]:
        """Read sequences, and go on from what was read before.

        Args:
            x: the steps of some stories.
            state: what the layer returned for the steps before these; None: nothing.
            lengths: steps in each story; those behind the end neither write nor read.
            write_mask: False where a step leaves the memory as it is.
            read_mask: False where a step does not read.

        Returns:
            What each step has read, 0 where it does not; and the memory after the last step.
        """
        batch, time = self._check(x, state, lengths, write_mask, read_mask)
        told = self.tell(x, lengths=lengths, write_mask=write_mask)
        before = self.empty_state(batch) if state is None else state
        _, memory, found = parallel(
            told.associations,
            operations=self.operations,
            lengths=told.lengths,
            state=DenseMemory(before.tensor.flatten(0, 1)),
            queries=told.queries,
        )
        assert isinstance(memory, DenseMemory)
        found = found.view(batch, self.heads, time, self.hops, self.entity_size)
        y = self.output(found.transpose(1, 2).flatten(2).to(x.dtype))
        reads = read_mask
        if lengths is not None:
            there = torch.arange(time, device=x.device) < lengths.unsqueeze(1)
            reads = there if reads is None else reads & there
        if reads is not None:
            y = torch.where(reads.unsqueeze(2), y, 0.0)
        return y, MemoryState(memory.tensor.unflatten(0, (batch, self.heads)))

    def attention(
        self,
        x: Float[Tensor, "b t i"],
        state: MemoryState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
        write_mask: Bool[Tensor, "b t"] | None = None,
    ) -> "Attention":
        """What every read finds, as exact weights of what every step has told.

        The memory has no attention of its own: this is R (I + L)^-1 of docs/memory.md, in time and
        memory quadratic in the number of steps. What comes from a state is not in it.
        """
        from tpr_rnn.nn.attention import attention

        batch, _ = self._check(x, state, lengths, write_mask)
        told = self.tell(x, lengths=lengths, write_mask=write_mask)
        before = self.empty_state(batch) if state is None else state
        return attention(self, told, DenseMemory(before.tensor.flatten(0, 1)))

    def tell(
        self,
        x: Float[Tensor, "b t i"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        write_mask: Bool[Tensor, "b t"] | None = None,
    ) -> Told:
        """Take steps apart into what `parallel` and `sequential` need."""
        batch, time, _ = x.shape
        e, r, entities = self.entity_size, self.relation_size, len(ENTITIES)
        parts = self.parts(x).unflatten(2, (self.heads, -1))
        parts = parts.to(full_precision(parts.dtype))
        entity, relation = parts.split([(entities + 1) * e, (len(RELATIONS) + self.hops) * r], 3)
        e1, e2, n = unit(entity.unflatten(3, (-1, e))).unbind(3)
        r1, r2, r3, *along = at_most_unit(relation.unflatten(3, (-1, r))).unbind(3)
        said = torch.cat(drawn_together(Parts(e1, e2, r1, r2, r3), self.operations), dim=3)
        if write_mask is not None:
            said = torch.where(write_mask[:, :, None, None], said, 0.0)
        # Rows stand in the order b t m; a story is a head of a sequence, in the order b m t.
        place = torch.arange(batch * time * self.heads, device=x.device)
        place = place.view(batch, time, self.heads).transpose(1, 2).flatten(0, 1)
        queries = Queries(
            torch.cat((n, *along), dim=3).flatten(0, 2),
            row=place.flatten(),
            position=torch.arange(1, time + 1, device=x.device).repeat(batch * self.heads),
            scale=self.scale.to(said.dtype),
            shift=self.shift.to(said.dtype),
        )
        heads_lengths = None if lengths is None else lengths.repeat_interleave(self.heads)
        return Told(Associations(said.flatten(0, 2), place, e), queries, heads_lengths)

    def _check(
        self,
        x: Tensor,
        state: MemoryState | None,
        lengths: Tensor | None,
        *masks: Tensor | None,
    ) -> tuple[int, int]:
        """Refuse, in plain words, what does not go together."""
        if x.dim() != 3 or x.shape[2] != self.input_size:
            raise ValueError(
                f"x is (stories, steps, {self.input_size}), not of shape {tuple(x.shape)}"
            )
        batch, time, _ = x.shape
        wanted = (batch, self.heads, self.entity_size, self.relation_size, self.entity_size)
        if state is not None and state.tensor.shape != wanted:
            raise ValueError(
                f"the state is of shape {tuple(state.tensor.shape)}, but {batch} stories of this "
                f"layer need {wanted}: stories, heads, entity size, relation size, entity size"
            )
        if lengths is not None and lengths.shape != (batch,):
            raise ValueError(f"there are {batch} stories, but `lengths` is {tuple(lengths.shape)}")
        for name, mask in zip(("write_mask", "read_mask"), masks, strict=False):
            if mask is not None and (mask.shape != (batch, time) or mask.dtype != torch.bool):
                raise ValueError(
                    f"{name} is a truth value for each of {batch} x {time} steps, not "
                    f"{mask.dtype} of shape {tuple(mask.shape)}"
                )
        return batch, time
