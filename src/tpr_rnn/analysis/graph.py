"""The memory as a graph: entities are its nodes, and what it holds are arrows between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize

from tpr_rnn.analysis.naming import (
    MAJORITY,
    Name,
    Occurrence,
    common_name,
    group_by_direction,
    group_things,
    name_vectors,
)
from tpr_rnn.analysis.schema import Association, Change, Group, Likeness, Part
from tpr_rnn.analysis.steps import Steps
from tpr_rnn.memory import (
    ENTITIES,
    RELATIONS,
    SPECS,
    FactoredMemory,
    Operation,
    content_weights,
    key_rows,
    retrieved,
    row_weights,
)

HELD = 0.5
"""The memory holds an association while it gives back more than half of it."""


@dataclass(frozen=True)
class Grouping:
    """The entities of a story, or its relations, in groups: a thing each (`naming.group_things`),
    and one for all things of a name."""

    groups: tuple[Group, ...]
    centres: Float[Tensor, "c d"]
    """The mean of the vectors of each thing."""
    group_of: Int[Tensor, " c"]
    """The group that each thing belongs to."""
    of: dict[tuple[int, str], int]
    """The group of a sentence's part."""
    parts: dict[tuple[int, str], Part]

    def nearest(
        self, vectors: Float[Tensor, "*n d"]
    ) -> tuple[Int[Tensor, "*n"], Float[Tensor, "*n"], Float[Tensor, "*n"]]:
        """The group whose direction each vector has most of, their cosine, and the strength."""
        cosines = normalize(vectors, dim=-1) @ normalize(self.centres, dim=1).mT
        direction = cosines.abs().argmax(dim=-1)
        cosine = cosines.gather(-1, direction.unsqueeze(-1)).squeeze(-1)
        length = vectors.norm(dim=-1) / self.centres.norm(dim=1)[direction]
        return self.group_of[direction], cosine, cosine * length


@dataclass(frozen=True)
class Graph:
    """The nodes and relations of a story, and what each of its steps says in them."""

    entities: Grouping
    relations: Grouping
    parts: list[dict[str, Part]]
    """For each step."""

    def likenesses(self, vectors: Float[Tensor, "n e"]) -> list[Likeness]:
        """What entity vectors are most like."""
        if not self.entities.groups:
            return [Likeness(None, 0.0, 0.0, "") for _ in vectors]
        nearest = (column.tolist() for column in self.entities.nearest(vectors))
        return [self._likeness(*found) for found in zip(*nearest, strict=True)]

    def _likeness(self, node: int, cosine: float, strength: float) -> Likeness:
        if cosine == 0:
            return Likeness(None, 0.0, 0.0, "")
        name = self.entities.groups[node].name.text if abs(cosine) >= MAJORITY else ""
        return Likeness(node, cosine, strength, name)


def story_graph(steps: Steps) -> Graph:
    """Group and name what the steps of a story say."""
    occurrences = {
        (t, name): Occurrence(name, tokens, steps.turned[name][t])
        for t, tokens in enumerate(steps.tokens)
        for name in steps.said
    }
    entities = _grouping(ENTITIES, steps.said, occurrences)
    relations = _grouping(RELATIONS, steps.said, occurrences)
    named = entities.parts | relations.parts
    each = range(len(steps.tokens))
    return Graph(entities, relations, [{name: named[t, name] for name in steps.said} for t in each])


def _grouping(
    names: tuple[str, ...],
    said: dict[str, Float[Tensor, "t _"]],
    occurrences: dict[tuple[int, str], Occurrence],
) -> Grouping:
    vectors = torch.stack([said[name] for name in names], dim=1)  # t, part, d
    places = [(t, name) for t in range(len(vectors)) for name in names]
    vectors = vectors.flatten(0, 1)
    found = [occurrences[place] for place in places]
    labels = group_things(vectors, found)
    label = torch.tensor(labels, dtype=torch.int64)
    count = max(labels, default=-1) + 1
    centres = vectors.new_zeros(count, vectors.shape[1])
    centres.index_add_(0, label, vectors).div_(label.bincount(minlength=count).unsqueeze(1))
    cosines = torch.cosine_similarity(vectors, centres[label], dim=1).tolist()
    own_names = name_vectors(found, labels)
    directions: list[list[Name]] = [[] for _ in range(count)]
    for name, direction in zip(own_names, labels, strict=True):
        directions[direction].append(name)
    called = [common_name(some) for some in directions]
    group_of = _one_for_each_name([name.text for name in called])
    of = {place: group_of[direction] for place, direction in zip(places, labels, strict=True)}
    members: dict[int, list[tuple[int, str]]] = {}
    for place, group in of.items():
        members.setdefault(group, []).append(place)
    parts = {
        place: Part(name, of[place], cosine, occurrences[place].shares())
        for place, name, cosine in zip(places, own_names, cosines, strict=True)
    }
    return Grouping(
        tuple(
            Group(called[group_of.index(group)], tuple(members[group]))
            for group in range(len(members))
        ),
        centres,
        torch.tensor(group_of, dtype=torch.int64),
        of,
        parts,
    )


def _one_for_each_name(names: Sequence[str]) -> list[int]:
    """The group of each direction: a thing is one, however many directions it is told in."""
    keys = [name or number for number, name in enumerate(names)]  # the nameless stay apart
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]


def changes_by_step(graph: Graph, memory: FactoredMemory) -> list[tuple[Change, ...]]:
    """What each operation of each step removed and added (figure 1 of the paper)."""
    found = retrieved(memory.associations.parts(), memory.change, memory.operations)
    made: list[list[Change]] = [[] for _ in graph.parts]
    for index, operation in enumerate(memory.operations):
        removed = found[SPECS[operation].found][0]
        added = removed + memory.change[0, :, index]
        source, relation = SPECS[operation].key
        arrows = zip(graph.likenesses(removed), graph.likenesses(added), strict=True)
        for t, (old, new) in enumerate(arrows):
            key = (graph.entities.of[t, source], graph.relations.of[t, relation])
            made[t].append(Change(operation, *key, old, new))
    return [tuple(changes) for changes in made]


def held_associations(graph: Graph, memory: FactoredMemory) -> list[tuple[Association, ...]]:
    """The associations that the memory holds after each sentence.

    The memory is read with every key that was told so far; of keys of one direction only the
    latest counts, for it has overwritten most of the others.
    """
    if not graph.parts:
        return []
    rows = key_rows(memory.associations, memory.operations)
    operations = len(memory.operations)
    weights = row_weights(memory, rows.source, rows.relation)[0]
    reads = torch.einsum(
        "kto,tof->tkf", weights.unflatten(1, (-1, operations)), memory.change[0]
    ).cumsum(dim=0)
    nodes, cosines, strengths = graph.entities.nearest(reads)
    # An association is told as key x target; what of that is left is read with a key of length 1.
    keys = torch.einsum("ke,kr->ker", rows.source[0], rows.relation[0]).flatten(1)
    strengths = strengths / keys.square().sum(dim=1)
    same_key = group_by_direction(keys)
    every_row = torch.eye(len(keys), dtype=keys.dtype, device=keys.device)
    made_of = content_weights(memory, every_row.unsqueeze(0))[0]  # each change, of what was told
    latest: dict[int, int] = {}
    held = []
    for t in range(len(graph.parts)):
        for row in range(t * operations, (t + 1) * operations):
            latest.pop(same_key[row], None)  # so that the order is that of the last use
            latest[same_key[row]] = row
        is_held = (cosines[t].abs() >= MAJORITY) & (strengths[t].abs() >= HELD)
        chosen = [row for row in latest.values() if is_held[row]]
        so_far = (t + 1) * operations
        told = weights[chosen, :so_far] @ made_of[:so_far, :so_far]
        shares = told * (reads[t, chosen] @ rows.content[0, :so_far].mT)
        told_by = shares.unflatten(1, (-1, operations)).sum(dim=2).argmax(dim=1)
        columns = (nodes[t, chosen], cosines[t, chosen], strengths[t, chosen], told_by)
        held.append(
            tuple(
                _association(graph, memory.operations, *found)
                for found in zip(chosen, *(column.tolist() for column in columns), strict=True)
            )
        )
    return held


def _association(
    graph: Graph,
    operations: tuple[Operation, ...],
    row: int,
    target: int,
    cosine: float,
    strength: float,
    told_by: int,
) -> Association:
    sentence, index = divmod(row, len(operations))
    source, relation = SPECS[operations[index]].key
    return Association(
        source=graph.entities.of[sentence, source],
        relation=graph.relations.of[sentence, relation],
        target=target,
        operation=operations[index],
        sentence=sentence,
        told_by=told_by,
        strength=strength,
        cosine=cosine,
    )
