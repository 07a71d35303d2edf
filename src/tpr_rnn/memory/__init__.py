"""The third-order tensor-product memory: pure functions, no parameters."""

from tpr_rnn.memory import native
from tpr_rnn.memory.associations import Associations, Parts, key_rows, retrieved
from tpr_rnn.memory.checks import full_precision
from tpr_rnn.memory.keys import bounded, bounded_relations, drawn_together, unit
from tpr_rnn.memory.operations import (
    ENTITIES,
    OPERATIONS,
    RELATIONS,
    SPECS,
    Operation,
    OperationSpec,
    check_operations,
)
from tpr_rnn.memory.parallel import find, parallel
from tpr_rnn.memory.queries import Queries, scalar_layer_norm
from tpr_rnn.memory.reading import content_weights, read, row_weights, told_weights
from tpr_rnn.memory.sequential import sequential
from tpr_rnn.memory.states import DenseMemory, FactoredMemory, Memory, densify

__all__ = [
    "ENTITIES",
    "OPERATIONS",
    "RELATIONS",
    "SPECS",
    "Associations",
    "DenseMemory",
    "FactoredMemory",
    "Memory",
    "Operation",
    "OperationSpec",
    "Parts",
    "Queries",
    "bounded",
    "bounded_relations",
    "check_operations",
    "content_weights",
    "densify",
    "drawn_together",
    "find",
    "full_precision",
    "key_rows",
    "native",
    "parallel",
    "read",
    "retrieved",
    "row_weights",
    "scalar_layer_norm",
    "sequential",
    "told_weights",
    "unit",
]
