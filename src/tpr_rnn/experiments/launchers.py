"""The launchers by name."""

from tpr_rnn.errors import UserError, quoted
from tpr_rnn.experiments.launcher import Launcher
from tpr_rnn.experiments.local import LocalProcesses
from tpr_rnn.experiments.ray_tasks import RayTasks

NAMES = "local, ray, ray:ADDRESS"


def find_launcher(text: str, *, workers: int | None, threads: int) -> Launcher:
    """The launcher that `--on` names."""
    name, colon, address = text.partition(":")
    if text == "local":
        return LocalProcesses(workers, threads)
    if name == "ray":
        return RayTasks(address if colon else None, workers, threads)
    raise UserError(f"--on takes {NAMES}, not {quoted(text)}")
