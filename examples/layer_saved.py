"""A memory that one process saves, and another one loads and asks.

Without arguments it trains a model, tells it some things, saves the model and what it remembers,
and starts itself again to ask. Takes some seconds of one core.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from layer_in_a_model import ROOMS, Recall, train

from tpr_rnn.nn import MemoryState

PERSON, THING, ROOM = 2, 5, 7


def tell(directory: Path) -> None:
    """Train, read what is told, and save."""
    model = train()
    told = torch.tensor(
        [[[PERSON, THING, 1], [PERSON, 0, 3], [0, THING, 4], [PERSON, THING, ROOM]]]
    )
    _, state = model(told)
    torch.save(model.state_dict(), directory / "model.pt")
    state.save(directory / "memory.safetensors")


def ask(directory: Path) -> None:
    """Load both, and ask where the thing is now."""
    model = Recall()
    model.load_state_dict(torch.load(directory / "model.pt"))
    state = MemoryState.load(directory / "memory.safetensors")
    scores, _ = model(torch.tensor([[[PERSON, THING, ROOMS]]]), state)
    print(f"told: room {ROOM}; the other process answers: room {int(scores.argmax())}")


if __name__ == "__main__":
    if sys.argv[1:]:
        ask(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            tell(Path(name))
            subprocess.run([sys.executable, __file__, name], check=True)
