"""Models: modules that own the parameters."""

from tpr_rnn.models.tpr_rnn import TPRRNN, TPRRNNConfig

__all__ = ["TPRRNN", "TPRRNNConfig"]
