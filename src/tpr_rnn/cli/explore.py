"""`tpr-rnn explore`: a web page to tell a model stories and watch its memory."""

from typing import Annotated

from cyclopts import Parameter

from tpr_rnn.cli.options import RunArgument, load_reader, run_directory
from tpr_rnn.errors import missing_extra


def explore(
    run: RunArgument = None,
    *,
    host: Annotated[
        str, Parameter(help="Address to listen on; 0.0.0.0 is for all who reach this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0 takes any that is free.")] = 8000,
    browser: Annotated[bool, Parameter(help="Open the page in a browser.")] = True,
) -> int:
    """Tell a story, ask, and watch the memory think, in a browser on this machine."""
    from tpr_rnn.cli.console import Console

    console = Console()
    reader = load_reader(run_directory(run))
    name = "the bundled model" if run is None else run.resolve().name
    try:
        from tpr_rnn.explorer.server import serve
        from tpr_rnn.explorer.service import Service
    except ImportError as error:
        raise missing_extra("the explorer", error.name or "a library", "explore") from error

    def announce(address: str) -> None:
        console.print(f"Exploring {name} at {address} (Ctrl-C ends it)")

    serve(Service(reader, name), host, port, browser=browser, announce=announce)
    return 0
