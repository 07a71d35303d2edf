"""`tpr-rnn explore`: a web page to write stories and watch the memory of a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tpr_rnn.cli.options import RunArgument, load_reader, run_directory
from tpr_rnn.errors import UserError, missing_extra, quoted
from tpr_rnn.pretrained import has_pretrained

if TYPE_CHECKING:
    from tpr_rnn.models.reader import Reader

BUNDLED = "the bundled model"


def explore(
    run: RunArgument = None,
    *,
    host: Annotated[
        str, Parameter(help="Address to listen on; with 0.0.0.0 other machines can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0: any free port.")] = 8000,
    beside: Annotated[
        tuple[Path, ...],
        Parameter(
            negative="",
            help="Another run, to see side by side with this one; can be repeated. The bundled "
            "model is always there.",
        ),
    ] = (),
    browser: Annotated[bool, Parameter(help="Open the page in a browser.")] = True,
) -> int:
    """Write a story, ask, and watch the memory think, in a browser on this machine."""
    from tpr_rnn.cli.console import Console

    console = Console()
    reader = load_reader(run_directory(run))
    name = BUNDLED if run is None else run.resolve().name
    others = _others(name, beside)
    try:
        from tpr_rnn.explorer.server import serve
        from tpr_rnn.explorer.service import Service
    except ImportError as error:
        raise missing_extra("the explorer", error.name or "a library", "explore") from error

    def announce(address: str) -> None:
        console.print(f"Exploring {name} at {address} (Ctrl-C ends it)")

    serve(Service(reader, name, others), host, port, browser=browser, announce=announce)
    return 0


def _others(name: str, runs: tuple[Path, ...]) -> dict[str, "Reader"]:
    """The models beside the explored one, by name."""
    others: dict[str, Reader] = {}
    if name != BUNDLED and has_pretrained():
        others[BUNDLED] = load_reader(run_directory(None))
    for run in runs:
        other = run.resolve().name
        if other in {name, *others}:
            raise UserError(
                f"two runs are called {quoted(other)}; rename one of the directories, so that the "
                "page can tell them apart"
            )
        others[other] = load_reader(run_directory(run))
    return others
