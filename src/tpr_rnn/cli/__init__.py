"""The command line: parse, call, show.

Each command lives in a module of its own that is imported when it is called, and imports torch
inside its function, so that help and error messages come at once.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from io import TextIOWrapper

from cyclopts import App, CycloptsError

from tpr_rnn import __version__
from tpr_rnn.cli.options import INTERRUPTED
from tpr_rnn.errors import UserError

app = App(
    name="tpr-rnn",
    version=__version__,
    help="Learning to reason with third-order tensor products: train, evaluate and ask.",
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
app.command("tpr_rnn.cli.train:train", name="train", help="Train a model on bAbI stories.")
app.command("tpr_rnn.cli.evaluate:evaluate", name="evaluate", help="Score a trained model.")
app.command("tpr_rnn.cli.ask:ask", name="ask", help="Tell a trained model a story and ask.")
app.command(
    "tpr_rnn.cli.explore:explore", name="explore", help="Watch the memory think, in a browser."
)
app.command("tpr_rnn.cli.sweep:sweep", name="sweep", help="Run an experiment of the paper.")
app.command("tpr_rnn.cli.report:report", name="report", help="Make tables and figures of runs.")
app.command(
    "tpr_rnn.cli.analyze:analyze", name="analyze", help="See what a trained model has learned."
)
app.command("tpr_rnn.cli.bench:bench", name="bench", help="Measure speed and memory.")
_data = App(name="data", help="Stories: generate, fetch or describe them.")
_data.command(
    "tpr_rnn.cli.data:generate", name="generate", help="Write stories from the simulator to files."
)
_data.command("tpr_rnn.cli.data:fetch", name="fetch", help="Download the official bAbI data.")
_data.command("tpr_rnn.cli.data:describe", name="describe", help="Show what a directory holds.")
app.command(_data)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _interrupted)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # what a terminal cannot show becomes a "?"
    try:
        status = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except (UserError, CycloptsError) as error:
        print(f"tpr-rnn: {error}", file=sys.stderr)
        status = 2
    except BrokenPipeError:
        # The reader of our output has gone, as in `tpr-rnn ... | head`; nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except (OSError, MemoryError) as error:
        print(f"tpr-rnn: {error or 'out of memory'}", file=sys.stderr)
        status = 2
    sys.exit(status)


def _interrupted(*_: object) -> None:
    """Ctrl-C where there is nothing to save.

    Not by an exception: torch and numpy swallow one that comes while they are imported.
    """
    os.write(sys.stderr.fileno(), b"\ntpr-rnn: interrupted\n")
    os._exit(INTERRUPTED)
