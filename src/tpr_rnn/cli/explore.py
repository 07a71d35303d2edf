"""`tpr-rnn explore`: a web page to tell a model stories and watch its memory."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tpr_rnn.errors import UserError


def explore(
    run: Annotated[
        Path | None,
        Parameter(help="Run directory; absent: the model that ships with the package."),
    ] = None,
    *,
    host: Annotated[
        str, Parameter(help="Address to listen on; 0.0.0.0 is for all who reach this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0 takes any that is free.")] = 8000,
    browser: Annotated[bool, Parameter(help="Open the page in a browser.")] = True,
) -> int:
    """Tell a story, ask, and watch the memory think, in a browser on this machine."""
    from rich.console import Console

    from tpr_rnn.models.reader import Reader
    from tpr_rnn.pretrained import load_pretrained

    console = Console(highlight=False, soft_wrap=True, markup=False)
    if run is None:
        reader, name = load_pretrained(), "the model that ships with tpr-rnn"
    else:
        reader, name = Reader.load(run), run.resolve().name
    try:
        from tpr_rnn.explorer.server import serve
        from tpr_rnn.explorer.service import Service
    except ImportError as error:
        raise UserError(
            f"the explorer needs {error.name}; install it with: pip install 'tpr-rnn[explore]'"
        ) from error

    def announce(address: str) -> None:
        console.print(f"Exploring {name} at {address} (Ctrl-C ends it)")

    serve(Service(reader, name), host, port, browser=browser, announce=announce)
    return 0
