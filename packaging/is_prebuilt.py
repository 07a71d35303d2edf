"""Fail unless the installed package has a kernel that loads, and that agrees with the oracle."""

import sys

import torch

from tpr_rnn.memory import Associations, native, parallel, sequential

said = Associations(torch.randn(9, 27, dtype=torch.float64) / 3, torch.arange(9).view(3, 3), 6)
torch.testing.assert_close(parallel(said)[0], sequential(said)[0])
print(f"PyTorch {torch.__version__}: {native.status()}")
sys.exit("prebuilt" not in native.status())
