"""`tpr-rnn explore`: a web page to write stories and watch the memory of a model."""

from typing import Annotated

from cyclopts import Parameter

from tpr_rnn.cli.options import RunArgument, load_reader, run_directory
from tpr_rnn.errors import missing_extra


def explore(
    run: RunArgument = None,
    *,
    host: Annotated[
        str, Parameter(help="Address to listen on; with 0.0.0.0 other machines can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0: any free port.")] = 8000,
    browser: Annotated[bool, Parameter(help="Open the page in a browser.")] = True,
) -> int:
    """Write a story, ask, and watch the memory think, in a browser on this machine."""
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
