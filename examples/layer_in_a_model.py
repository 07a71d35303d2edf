"""The memory as a layer of a small model: remember values by two keys, and update them.

A step tells that a person keeps something in a room ("Ann keeps the key in the attic"), or asks
where it is. Everything is drawn at random, so nothing can be known but from the sequence. Takes
some seconds of one core.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tpr_rnn.nn import MemoryState, TPRMemory

PEOPLE, THINGS, ROOMS = 6, 6, 10
TOLD, ASKED = 24, 8
SIZE = 64


class Recall(nn.Module):
    """A vector for each step, the memory, and scores for the rooms."""

    def __init__(self) -> None:
        super().__init__()
        self.people = nn.Embedding(PEOPLE, SIZE)
        self.things = nn.Embedding(THINGS, SIZE)
        self.rooms = nn.Embedding(ROOMS + 1, SIZE)  # the last one: a question
        self.memory = TPRMemory(SIZE, entity_size=16, relation_size=8, hops=1)
        self.output = nn.Linear(SIZE, ROOMS)

    def forward(
        self, steps: Tensor, state: MemoryState | None = None
    ) -> tuple[Tensor, MemoryState]:
        """Scores of each room at each step; a step is a person, a thing and a room or ROOMS."""
        person, thing, room = steps.unbind(dim=2)
        x = self.people(person) + self.things(thing) + self.rooms(room)
        y, state = self.memory(x, state, write_mask=room < ROOMS)
        return self.output(y), state


def sequences(count: int) -> tuple[Tensor, Tensor]:
    """Random steps, the questions last, and the room at which each question is answered."""
    pairs = PEOPLE * THINGS
    told, rooms = torch.randint(pairs, (count, TOLD)), torch.randint(ROOMS, (count, TOLD))
    asked = told[:, torch.randperm(TOLD)[:ASKED]]
    same = told.unsqueeze(1) == asked.unsqueeze(2)  # the last one counts
    last = (same * torch.arange(1, TOLD + 1)).argmax(dim=2)
    pair = torch.cat((told, asked), dim=1)
    room = torch.cat((rooms, torch.full((count, ASKED), ROOMS)), dim=1)
    return torch.stack((pair // THINGS, pair % THINGS, room), dim=2), rooms.gather(1, last)


def train(steps: int = 150) -> Recall:
    """A model that remembers."""
    torch.manual_seed(0)
    model = Recall()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        x, answer = sequences(32)
        scores, _ = model(x)
        loss = cross_entropy(scores[:, TOLD:].flatten(0, 1), answer.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def accuracy(model: Recall) -> float:
    """Share of questions about new sequences that are answered right."""
    x, answer = sequences(200)
    with torch.no_grad():
        scores, _ = model(x)
    return float((scores[:, TOLD:].argmax(dim=2) == answer).float().mean())


if __name__ == "__main__":
    print(f"right answers: {accuracy(train()):.1%}; by chance: {1 / ROOMS:.0%}")
