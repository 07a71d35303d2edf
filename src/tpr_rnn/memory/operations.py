"""Write, move, backlink and swap as data (eq. 6, 9-14): the one table that everything reads.

All operations have one shape. At its *key*, the pair (source entity, relation), an operation adds
a *change* to the memory: what it stores there minus what it finds there.

    operation   key        change added at the key
    write       (e1, r1)   u1 = e2 - w_hat       w_hat = F (e1, r1)    eq. 9, 10
    move        (e1, r2)   u2 = w_hat - m_hat    m_hat = F (e1, r2)    eq. 11, 12
    backlink    (e2, r3)   u3 = e1 - b_hat       b_hat = F (e2, r3)    eq. 13, 14
    swap        (e1, d)    u4 = -s_hat           s_hat = F (e1, d)     d = r1 - r2

Swap is not in the paper: what stands at (e1, r1) and at (e1, r2) changes places. With orthogonal
keys of length 1 it is the reflection I - kk', k = (e1, r1 - r2): it has the eigenvalue -1, where
the others have 0 and 1 only, and so it can follow a permutation.

Only the oracle (`sequential`) and the C++ kernel spell the operations out a second time: the one
to stay close to the paper, the other for speed. The tests hold all three together. (And `keys` says
how long keys may be, which depends on the operations.)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from tpr_rnn.errors import UserError, quoted

Operation = Literal["write", "move", "backlink", "swap"]
Combination = Mapping[str, float]
"""A sum of named vectors, each with its factor; empty: zero."""

ENTITIES = ("e1", "e2")
RELATIONS = ("r1", "r2", "r3")


@dataclass(frozen=True, kw_only=True)
class OperationSpec:
    """All that there is to know about an operation."""

    name: Operation
    title: str
    """For people to read."""
    symbol: str
    """The paper's letter for what it adds to the memory (eq. 6)."""
    purpose: str
    """What it does, in a few words."""
    meaning: str
    """What stands in the memory because of it, in a few words."""
    colour: str
    colour_on_dark: str
    line: Literal["solid", "dashed", "dotted"]
    """The style of its lines in pictures: nobody needs to see colours."""
    source: str
    """The entity of its key."""
    relation: Combination
    """The relation of its key."""
    found: str
    """The paper's name for what it finds at its key."""
    stored: Combination
    """What it stores there: entities of the sentence, or what operations have found."""
    equations: tuple[int, ...]

    @property
    def key(self) -> tuple[str, str]:
        """Its key as pictures show it: an entity and, of several relations, the first."""
        return self.source, next(iter(self.relation))

    @property
    def needs(self) -> tuple["OperationSpec", ...]:
        """The operations whose finds it stores."""
        return tuple(spec for spec in SPECS.values() if spec.found in self.stored)

    @property
    def content(self) -> Combination:
        """The entities of the sentence that it stores."""
        return {part: factor for part, factor in self.stored.items() if part in ENTITIES}

    @property
    def read(self) -> Combination:
        """The relation with which it reads all that its change takes away, in one read.

        Move takes away m_hat - w_hat, which is F (e1, r2) - F (e1, r1) = F (e1, r2 - r1).
        """
        taken = dict(self.relation)
        for other in self.needs:
            for part, factor in other.relation.items():
                taken[part] = taken.get(part, 0.0) - self.stored[other.found] * factor
        return taken


SPECS: Mapping[Operation, OperationSpec] = {
    spec.name: spec
    for spec in (
        OperationSpec(
            name="write",
            title="write",
            symbol="W",
            purpose="stores what a sentence says",
            meaning="what a sentence says",
            colour="#0072b2",
            colour_on_dark="#56b4e9",
            line="solid",
            source="e1",
            relation={"r1": 1.0},
            found="w_hat",
            stored={"e2": 1.0},
            equations=(9, 10),
        ),
        OperationSpec(
            name="move",
            title="move",
            symbol="M",
            purpose="keeps what it replaces",
            meaning="what was there before",
            colour="#a3427c",
            colour_on_dark="#e59cc8",
            line="dashed",
            source="e1",
            relation={"r2": 1.0},
            found="m_hat",
            stored={"w_hat": 1.0},
            equations=(11, 12),
        ),
        OperationSpec(
            name="backlink",
            title="backlink",
            symbol="B",
            purpose="stores the way back",
            meaning="the way back",
            colour="#5d6874",
            colour_on_dark="#a9b5c1",
            line="dotted",
            source="e2",
            relation={"r3": 1.0},
            found="b_hat",
            stored={"e1": 1.0},
            equations=(13, 14),
        ),
        OperationSpec(
            name="swap",
            title="swap",
            symbol="S",
            purpose="exchanges two relations",
            meaning="what has changed places",
            colour="#7a5b00",
            colour_on_dark="#e8c75a",
            line="dashed",
            source="e1",
            relation={"r1": 1.0, "r2": -1.0},
            found="s_hat",
            stored={},
            equations=(),
        ),
    )
}
OPERATIONS: tuple[Operation, ...] = ("write", "move", "backlink")
"""Those of the paper, in its order: what a memory does if it is not told otherwise."""


def check_operations(names: Iterable[str]) -> tuple[Operation, ...]:
    """Return the operations in the paper's order; unknown or contradictory ones are errors."""
    wanted = list(names)
    for name in wanted:
        if name not in SPECS:
            raise UserError(
                f"unknown memory operation {quoted(name)}; there are {', '.join(SPECS)}"
            )
    if len(set(wanted)) != len(wanted):
        raise UserError(f"a memory operation is named twice in {quoted(','.join(wanted))}")
    if not wanted:
        alone = " or ".join(spec.name for spec in SPECS.values() if not spec.needs)
        raise UserError(f"a memory needs at least one operation: {alone}")
    chosen = tuple(name for name in SPECS if name in wanted)
    if chosen == OPERATIONS:  # nothing is missing; this is asked at every step of a stream
        return chosen
    for spec in (SPECS[name] for name in chosen):
        for other in spec.needs:
            if other.name not in chosen:
                raise UserError(
                    f"{spec.name} needs {other.name}: it stores what {other.name} has found "
                    f"(eq. {spec.equations[-1]})"
                )
    return chosen
