"""The paper's experiment on systematic generalisation: new names, tested in tasks without them."""

from dataclasses import replace

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job, Request
from tpr_rnn.training.presets import DEFAULT

PRESETS = ("systematic", "lstm")
"""The TPR-RNN, and an LSTM to compare with."""


def systematic(request: Request) -> list[Job]:
    """A TPR-RNN and an LSTM for each seed; with a given preset, that one alone."""
    return _jobs(request, "systematic")


def systematic_valid(request: Request) -> list[Job]:
    """The same with other names and without the test set, to choose settings."""
    return _jobs(request, "systematic-valid")


def _jobs(request: Request, task: str) -> list[Job]:
    if request.preset != DEFAULT:
        return request.jobs([task])
    jobs = []
    for name in PRESETS:
        try:
            jobs += replace(request, preset=name).jobs([task])
        except UserError as error:  # a setting of one kind of model, say
            raise UserError(
                f"with the preset {name}: {error} (--preset {PRESETS[0]} runs the TPR-RNN alone)"
            ) from error
    return jobs
