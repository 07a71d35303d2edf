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
    bounded_relations,
    check_operations,
    drawn_together,
    full_precision,
    parallel,
    unit,
)
from tpr_rnn.nn.state import MemoryState

if TYPE_CHECKING:
    from tpr_rnn.nn.attention import Attention


_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


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
        if output_size is None:
            output_size = input_size
        sizes = (input_size, entity_size, relation_size, heads, hops, output_size)
        names = ("input_size", "entity_size", "relation_size", "heads", "hops", "output_size")
        for name, size in zip(names, sizes, strict=True):
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"{name} must be a whole number of 1 or more, not {size}")
        self.input_size, self.entity_size, self.relation_size, self.heads, self.hops = sizes[:-1]
        self.output_size = output_size
        self.operations = check_operations(operations)
        entities, relations = len(ENTITIES) + 1, len(RELATIONS) + hops
        self.parts = nn.Linear(
            input_size, heads * (entities * entity_size + relations * relation_size)
        )
        self.scale = nn.Parameter(torch.empty(hops))  # of the layer norm after each hop
        self.shift = nn.Parameter(torch.empty(hops))
        self.output = nn.Linear(heads * hops * entity_size, self.output_size)
        self._reset_norms()

    def reset_parameters(self) -> None:
        """Draw all parameters anew, as after `to_empty` on a device."""
        self.parts.reset_parameters()
        self.output.reset_parameters()
        self._reset_norms()

    def _reset_norms(self) -> None:
        nn.init.ones_(self.scale)
        nn.init.zeros_(self.shift)

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
            state=_of_heads(before, told),
            queries=told.queries,
        )
        assert isinstance(memory, DenseMemory)
        found = found.view(batch, self.heads, time, self.hops, self.entity_size)
        y = self.output(found.transpose(1, 2).flatten(2).to(x.dtype))
        reads = read_mask
        if lengths is not None:
            there = _within(lengths, x)
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
        return attention(self, told, _of_heads(before, told))

    def tell(
        self,
        x: Float[Tensor, "b t i"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        write_mask: Bool[Tensor, "b t"] | None = None,
    ) -> Told:
        """Take steps apart into what `parallel` and `sequential` need."""
        batch, time, _ = x.shape
        if lengths is not None:
            lengths = lengths.to(x.device)
            # Whatever stands behind the end, NaN too, must not reach the gradients.
            x = torch.where(_within(lengths, x).unsqueeze(2), x, 0.0)
        e, r, entities = self.entity_size, self.relation_size, len(ENTITIES)
        parts = self.parts(x).unflatten(2, (self.heads, -1))
        parts = parts.to(full_precision(parts.dtype))
        entity, relation = parts.split([(entities + 1) * e, (len(RELATIONS) + self.hops) * r], 3)
        e1, e2, n = unit(entity.unflatten(3, (-1, e))).unbind(3)
        relation = bounded_relations(relation.unflatten(3, (-1, r)), self.operations)
        r1, r2, r3, *along = relation.unbind(3)
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
        if not isinstance(x, Tensor):
            raise TypeError(
                f"x is a tensor, not a {type(x).__name__}; sequences of several lengths are padded "
                "behind their ends, and `lengths` says where those are"
            )
        if x.dim() != 3 or x.shape[2] != self.input_size:
            raise ValueError(
                f"x is (stories, steps, {self.input_size}), not of shape {tuple(x.shape)}"
            )
        batch, time, _ = x.shape
        wanted = (batch, self.heads, self.entity_size, self.relation_size, self.entity_size)
        if state is not None and not isinstance(state, MemoryState):
            raise TypeError(
                "the state is a MemoryState, such as the layer has returned, "
                f"not a {type(state).__name__}"
            )
        if state is not None and state.tensor.shape != wanted:
            raise ValueError(
                f"the state is of shape {tuple(state.tensor.shape)}, but {batch} stories of this "
                f"layer need {wanted}: stories, heads, entity size, relation size, entity size"
            )
        if state is not None and state.tensor.device != x.device:
            raise ValueError(
                f"the state is on {state.tensor.device} and x on {x.device}; "
                "`state.to(x.device)` brings it there"
            )
        if lengths is not None and not (isinstance(lengths, Tensor) and lengths.dtype in _WHOLE):
            kind = lengths.dtype if isinstance(lengths, Tensor) else f"a {type(lengths).__name__}"
            raise TypeError(f"`lengths` is a tensor of whole numbers (torch.int64), not {kind}")
        if lengths is not None and lengths.shape != (batch,):
            raise ValueError(f"there are {batch} stories, but `lengths` is {tuple(lengths.shape)}")
        for name, mask in zip(("write_mask", "read_mask"), masks, strict=False):
            if mask is not None and (mask.shape != (batch, time) or mask.dtype != torch.bool):
                raise ValueError(
                    f"{name} is a truth value for each of {batch} x {time} steps, not "
                    f"{mask.dtype} of shape {tuple(mask.shape)}"
                )
        return batch, time


def _within(lengths: Int[Tensor, " b"], x: Float[Tensor, "b t i"]) -> Bool[Tensor, "b t"]:
    """Which steps are before the ends of their stories."""
    within: Tensor = torch.arange(x.shape[1], device=x.device) < lengths.to(x.device).unsqueeze(1)
    return within


def _of_heads(state: MemoryState, told: Told) -> DenseMemory:
    """The memories of all heads, each a story, in the numbers that the layer computes with."""
    return DenseMemory(state.tensor.flatten(0, 1).to(told.associations.table.dtype))
