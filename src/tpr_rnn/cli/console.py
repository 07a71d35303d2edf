"""Where text for a person goes: the terminal, or standard error beside a JSON document."""

from typing import NoReturn

from rich.console import Console as RichConsole


class Console(RichConsole):
    """Plain lines and tables, as wide as they are."""

    def __init__(self, *, to_stderr: bool = False) -> None:
        """Write to standard output, or to standard error where that holds a JSON document."""
        super().__init__(stderr=to_stderr, highlight=False, soft_wrap=True, markup=False)

    def on_broken_pipe(self) -> NoReturn:
        """Let `main` decide what follows: rich would end the program with status 1."""
        raise BrokenPipeError
