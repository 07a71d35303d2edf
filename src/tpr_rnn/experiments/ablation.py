"""Table 3 of the paper: which memory operations does a task need?"""

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job, Request
from tpr_rnn.models.registry import TPR_RNN
from tpr_rnn.training.presets import preset, preset_name

VARIANTS = {
    "W": {"operations": "write"},
    "W+M": {"operations": "write,move"},
    "W+B": {"operations": "write,backlink"},
    "W+M+B": {"operations": "write,move,backlink"},
}


def ablation(request: Request) -> list[Job]:
    """One model for each task and each choice of memory operations."""
    if "operations" in request.settings:
        raise UserError("the ablation chooses the operations itself; leave out --set operations")
    chosen = preset(preset_name(request.preset, "1")).with_settings(request.settings)
    if chosen.architecture != TPR_RNN:
        raise UserError(f"the ablation is of a memory, which '{chosen.architecture}' lacks")
    return request.jobs(map(str, request.tasks), VARIANTS)
