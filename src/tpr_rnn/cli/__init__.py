"""The command line: parse, call, show.

Each command lives in a module of its own that is imported when it is called, and imports torch
inside its function, so that help and error messages come at once.
"""

import errno
import os
import signal
import sys
import threading
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TextIO

from cyclopts import App, CycloptsError

from tpr_rnn import __version__
from tpr_rnn.cli.options import BROKEN_PIPE, INTERRUPTED, WRONG_INPUT
from tpr_rnn.errors import UserError, shorten_words

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
app.command("tpr_rnn.cli.ask:ask", name="ask", help="Ask a trained model about a story.")
app.command(
    "tpr_rnn.cli.explain:explain", name="explain", help="Save why an answer is so, as a page."
)
app.command(
    "tpr_rnn.cli.explore:explore", name="explore", help="Watch the memory think, in a browser."
)
app.command("tpr_rnn.cli.sweep:sweep", name="sweep", help="Run an experiment of the paper.")
app.command("tpr_rnn.cli.report:report", name="report", help="Make tables and figures from runs.")
app.command(
    "tpr_rnn.cli.analyze:analyze", name="analyze", help="Show what a trained model has learned."
)
app.command(
    "tpr_rnn.cli.settings:settings", name="settings", help="List settings and what they mean."
)
app.command("tpr_rnn.cli.bench:bench", name="bench", help="Measure speed and memory.")
_data = App(name="data", help="Stories: generate, fetch or describe them.")
_data.command(
    "tpr_rnn.cli.data:generate", name="generate", help="Write stories from the simulator to files."
)
_data.command("tpr_rnn.cli.data:fetch", name="fetch", help="Download the official bAbI data.")
_data.command(
    "tpr_rnn.cli.data:describe", name="describe", help="Show what a data directory holds."
)
app.command(_data)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _interrupted)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a character that the terminal cannot show becomes "?"
    try:
        status = _run(arguments)
    except BrokenPipeError:
        # The reader of the output has closed it, as in `tpr-rnn ... | head`.
        _discard(sys.stdout)
        _discard(sys.stderr)
        status = BROKEN_PIPE
    sys.exit(status)


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command; an error that a person can correct becomes one line on standard error."""
    try:
        status: int = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
        return status
    except (UserError, CycloptsError) as error:
        message = shorten_words(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:  # a full device, written to by `tpr-rnn ... > FILE`
            _discard(sys.stdout)
        message = _of_the_system(error)
    except MemoryError as error:
        message = str(error) or "out of memory"
    print(f"tpr-rnn: {message}", file=sys.stderr, flush=True)
    return WRONG_INPUT


def _of_the_system(error: OSError) -> str:
    """An error of the operating system, without its number."""
    place = "standard output" if error.filename is None else shorten_words(str(error.filename))
    if error.errno == errno.ENOSPC:
        return f"{place}: cannot be written: no space left"
    return f"{place}: {(error.strerror or str(error)).lower()}"


def _discard(stream: TextIO) -> None:
    """Drop what waits to be written, so that Python does not fail on it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _interrupted(*_: object) -> None:
    """End on Ctrl-C where there is nothing to save.

    Not by an exception: torch and numpy swallow exceptions while they are imported.
    """
    os.write(sys.stderr.fileno(), b"\ntpr-rnn: interrupted\n")
    os._exit(INTERRUPTED)
