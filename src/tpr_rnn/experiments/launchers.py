"""The launchers by name."""

from tpr_rnn.errors import UserError, quoted
from tpr_rnn.experiments.launcher import Launcher
from tpr_rnn.experiments.local import LocalProcesses

LOCAL = "local"
NAMES = (LOCAL,)


def find_launcher(name: str, *, workers: int | None, threads: int) -> Launcher:
    """The launcher of that name."""
    if name == LOCAL:
        return LocalProcesses(workers, threads)
    raise UserError(f"--on takes {', '.join(NAMES)}, not {quoted(name)}")
