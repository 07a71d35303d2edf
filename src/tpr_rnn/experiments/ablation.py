"""Table 3 of the paper: which memory operations does a task need?"""

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job, Request

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
    return request.jobs(map(str, request.tasks), VARIANTS)
