"""The launchers by name."""

from tpr_rnn.errors import UserError, quoted
from tpr_rnn.experiments.launcher import Launcher
from tpr_rnn.experiments.local import LocalProcesses
from tpr_rnn.experiments.ray_tasks import RayTasks
from tpr_rnn.experiments.slurm_arrays import Limits, SlurmArrays

NAMES = "local, ray, ray:ADDRESS, slurm"


def find_launcher(
    text: str, *, workers: int | None, threads: int, limits: Limits | None = None
) -> Launcher:
    """The launcher that `--on` names; `limits` are those of SLURM."""
    if text == "slurm":
        return SlurmArrays(workers, threads, limits or Limits())
    if limits is not None:
        raise UserError("--partition, --time and --memory are for --on slurm")
    name, colon, address = text.partition(":")
    if text == "local":
        return LocalProcesses(workers, threads)
    if name == "ray":
        return RayTasks(address if colon else None, workers, threads)
    raise UserError(f"--on takes {NAMES}, not {quoted(text)}")
