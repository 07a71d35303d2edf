"""Commands in this process: a process of their own would spend its time on importing torch."""

import io
import os
import sys
from typing import NamedTuple
from unittest import mock

import pytest

from tpr_rnn.cli import main


class Ended(NamedTuple):
    """What `tpr-rnn ...` has left."""

    returncode: int
    stdout: str
    stderr: str


ONCE = ("--set", "attempts=1", "--set", "decay_epochs=0", "--set", "start_decay_below=none")
"""Training in one attempt, without a decay."""


def run(*arguments: str, input: str = "", encoding: str = "utf-8") -> Ended:
    """Run `tpr-rnn` with these arguments, on a terminal of 100 columns, without official data."""
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(2))
    environment = {name: value for name, value in os.environ.items() if name != "TPR_RNN_DATA"}
    with (
        mock.patch.multiple(sys, stdin=io.StringIO(input), stdout=stdout, stderr=stderr),
        mock.patch.dict(os.environ, environment | {"COLUMNS": "100"}, clear=True),
        pytest.raises(SystemExit) as end,
    ):
        main(arguments)
    return Ended(end.value.code or 0, _text(stdout), _text(stderr))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode(stream.encoding)
