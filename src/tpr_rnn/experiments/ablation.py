"""Table 3 of the paper: which memory operations does a task need?"""

from itertools import combinations

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job, Request
from tpr_rnn.memory import OPERATIONS, SPECS
from tpr_rnn.models.registry import TPR_RNN
from tpr_rnn.training.presets import preset, preset_name

FIRST, *OTHERS = OPERATIONS
VARIANTS = {
    "+".join(SPECS[name].symbol for name in (FIRST, *others)): (FIRST, *others)
    for count in range(len(OPERATIONS))
    for others in combinations(OTHERS, count)
}
"""W, W+M, W+B and W+M+B: write alone, and with each choice of the others."""


def ablation(request: Request) -> list[Job]:
    """One model for each task and each choice of memory operations."""
    if "operations" in request.settings:
        raise UserError("the ablation chooses the operations itself; leave out --set operations")
    chosen = preset(preset_name(request.preset, "1")).with_settings(request.settings)
    if chosen.architecture != TPR_RNN:
        raise UserError(f"the ablation needs a memory, which '{chosen.architecture}' does not have")
    settings = {name: {"operations": ",".join(used)} for name, used in VARIANTS.items()}
    return request.jobs(request.single_tasks(), settings)
