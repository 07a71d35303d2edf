"""The third-order tensor-product memory: pure functions, no parameters."""

from tpr_rnn.memory.operations import (
    OPERATIONS,
    Associations,
    DenseMemory,
    FactoredMemory,
    Memory,
    Operation,
    check_operations,
    densify,
    mask_padding,
    read,
)
from tpr_rnn.memory.parallel import parallel
from tpr_rnn.memory.sequential import sequential

__all__ = [
    "OPERATIONS",
    "Associations",
    "DenseMemory",
    "FactoredMemory",
    "Memory",
    "Operation",
    "check_operations",
    "densify",
    "mask_padding",
    "parallel",
    "read",
    "sequential",
]
