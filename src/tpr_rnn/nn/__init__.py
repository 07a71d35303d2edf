"""The memory as a layer for anybody's model."""

from tpr_rnn.nn.memory import TPRMemory
from tpr_rnn.nn.state import MemoryState

__all__ = ["MemoryState", "TPRMemory"]
