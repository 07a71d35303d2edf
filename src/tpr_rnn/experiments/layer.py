"""What is the memory good for, as a layer? Small tasks, with the same model around each layer."""

from dataclasses import replace

from tpr_rnn.data.recall import RECALL_TASKS, tasks_of
from tpr_rnn.errors import UserError, quoted
from tpr_rnn.experiments.grid import Job, Request
from tpr_rnn.memory import OPERATIONS, SPECS
from tpr_rnn.models.layer_reader import LAYERS
from tpr_rnn.training.presets import DEFAULT

RATES = ("0.003", "0.01", "0.03")
"""Learning rates that every layer is trained with: it is judged by its best one on validation."""
FIRST, *_ = OPERATIONS
OTHERS = [name for name in SPECS if name not in OPERATIONS]
VARIANTS = {name: {"layer": name} for name in LAYERS} | {
    f"tpr-memory-{other}": {"layer": "tpr-memory", "operations": f"{FIRST},{other}"}
    for other in OTHERS
}
"""The layers, and the memory with each operation that is off by default."""
EXCHANGING = tasks_of("permute")
"""The tasks that need such an operation: elsewhere it is not tried."""


def layer(request: Request) -> list[Job]:
    """A run for each task, layer, learning rate and seed; all stories are generated."""
    if request.preset not in (DEFAULT, "layer"):
        raise UserError("the experiment with layers has a preset of its own; leave out --preset")
    chosen = {"layer", "operations", "learning_rate"} & set(request.settings)
    if chosen:
        raise UserError(f"this experiment changes {', '.join(sorted(chosen))} itself; leave it out")
    unknown = [task for task in request.tasks if task not in RECALL_TASKS]
    if unknown:
        raise UserError(
            f"there is no task {quoted(unknown[0])} for layers; there are {', '.join(RECALL_TASKS)}"
        )
    return [
        job
        for task in request.tasks or RECALL_TASKS
        for job in replace(request, out=request.out / task, data=None).jobs([task], variants(task))
    ]


def variants(task: str) -> dict[str, dict[str, str]]:
    """The settings of each layer at each learning rate, for a task."""
    return {
        f"{name}-{rate}": {**settings, "learning_rate": rate}
        for name, settings in VARIANTS.items()
        if name in LAYERS or task in EXCHANGING
        for rate in RATES
    }
