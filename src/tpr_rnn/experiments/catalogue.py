"""The experiments by name."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from tpr_rnn.errors import UserError, quoted
from tpr_rnn.experiments.ablation import ablation
from tpr_rnn.experiments.all_tasks import all_tasks
from tpr_rnn.experiments.compare import compare
from tpr_rnn.experiments.grid import Job, Request
from tpr_rnn.experiments.layer import layer
from tpr_rnn.experiments.random_names import random_names
from tpr_rnn.experiments.recipe_ablation import recipe_ablation
from tpr_rnn.experiments.single_task import single_task
from tpr_rnn.experiments.systematic import systematic, systematic_valid
from tpr_rnn.experiments.word_level import word_level

EXPERIMENTS: Mapping[str, Callable[[Request], list[Job]]] = MappingProxyType(
    {
        "single-task": single_task,
        "ablation": ablation,
        "all-tasks": all_tasks,
        "recipe-ablation": recipe_ablation,
        "random-names": random_names,
        "compare": compare,
        "systematic": systematic,
        "systematic-valid": systematic_valid,
        "word-level": word_level,
        "layer": layer,
    }
)


def find_experiment(name: str) -> Callable[[Request], list[Job]]:
    """The experiment of that name: a function from a request to its runs."""
    if name not in EXPERIMENTS:
        raise UserError(f"unknown experiment {quoted(name)}; there are {', '.join(EXPERIMENTS)}")
    return lambda request: EXPERIMENTS[name](replace(request, experiment=name))
