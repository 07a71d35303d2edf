"""What a memory layer remembers: a value of constant size."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import save
from torch import Tensor

from tpr_rnn.errors import UserError
from tpr_rnn.files import read_tensors, write_atomically

KEY = "tpr_rnn.memory"
"""The name of the tensor in a file."""


@dataclass(frozen=True, eq=False)
class MemoryState:
    """The memories of some stories, one for each head.

    It is a value: a layer never changes the one that it is given, it returns another. Its size
    depends on the layer alone, not on what was read.
    """

    tensor: Float[Tensor, "b m e r f"]
    """Axis m counts the heads; the others are those of the memory (see `memory.states`)."""

    def __len__(self) -> int:
        """How many stories."""
        return self.tensor.shape[0]

    def __getitem__(
        self, which: "int | slice | list[int] | Int[Tensor, '*c'] | Bool[Tensor, ' b']"
    ) -> "MemoryState":
        """The memories of some stories; of one story, still with an axis of stories."""
        chosen = self.tensor[which]
        one = chosen.dim() < self.tensor.dim()  # by a number of whatever kind
        return MemoryState(chosen.unsqueeze(0) if one else chosen)

    def detach(self) -> "MemoryState":
        """The same, where training should not reach further back."""
        return MemoryState(self.tensor.detach())

    def to(self, *args: Any, **settings: Any) -> "MemoryState":
        """On another device, or of other numbers: as `Tensor.to`."""
        return MemoryState(self.tensor.to(*args, **settings))

    def save(self, path: Path | str) -> None:
        """Write it to a safetensors file."""
        content = save({KEY: self.tensor.detach().cpu().contiguous()})
        write_atomically(Path(path), content)

    @staticmethod
    def load(path: Path | str) -> "MemoryState":
        """Read `save` back."""
        path = Path(path)
        if not path.is_file():
            raise UserError(f"{path}: no such file; expected what MemoryState.save has written")
        _, tensors = read_tensors(path)
        if set(tensors) != {KEY} or tensors[KEY].dim() != 5:
            raise UserError(
                f"{path}: not a saved memory; it holds {', '.join(tensors) or 'nothing'}"
            )
        return MemoryState(tensors[KEY])


torch.export.register_dataclass(MemoryState, serialized_type_name="tpr_rnn.nn.MemoryState")
