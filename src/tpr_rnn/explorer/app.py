"""The HTTP interface: each address is one method of `Service`.

/api/openapi.json describes it. A refused request is answered by a `Problem`.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse
from starlette.staticfiles import StaticFiles

from tpr_rnn import __version__
from tpr_rnn.analysis.schema import Answer
from tpr_rnn.data.simulator import TASK_TITLES
from tpr_rnn.errors import UserError
from tpr_rnn.explorer import errors, messages
from tpr_rnn.explorer.connections import OUT_OF_DESCRIPTORS
from tpr_rnn.explorer.queue import BusyError, Queue
from tpr_rnn.explorer.security import Protection
from tpr_rnn.explorer.service import OPERATIONS, Service

PAGE = Path(__file__).parent / "page"
# What an address of the description may answer; 404 and 405 are those of all others.
REFUSALS: Mapping[int | str, dict[str, Any]] = {
    400: {"description": "The model cannot read this.", "model": messages.Problem},
    403: {"description": "The request comes from another page.", "model": messages.Problem},
    413: {"description": "The request is too large.", "model": messages.Problem},
    421: {"description": "The explorer has another host name.", "model": messages.Problem},
    422: {"description": "The request is not as described here.", "model": messages.Problem},
    503: {"description": "Too many requests at once; try again later.", "model": messages.Problem},
}
_TASKS = f"^({'|'.join(TASK_TITLES)})$"


def create_app(service: Service, hosts: Collection[str] | None = None) -> FastAPI:
    """The web application.

    Args:
        service: the model to explore.
        hosts: the names under which it may be called; None: any.
    """
    app = FastAPI(
        title="tpr-rnn explorer",
        summary="Write a story, ask, and see what the third-order memory holds.",
        version=__version__,
        openapi_url="/api/openapi.json",
        # FastAPI's own pages of documentation load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
        responses=dict(REFUSALS),
    )
    _add_api(app, service)
    _add_page(app)
    _add_refusals(app)
    app.add_middleware(Protection, hosts=hosts)
    return app


def _add_api(app: FastAPI, service: Service) -> None:
    queue = Queue()

    @app.get("/api/model")
    async def model() -> messages.ModelResponse:
        """Describe the model: its size, its words, the tasks whose words it knows."""
        return service.description

    @app.get("/api/operations")
    async def operations() -> messages.OperationsResponse:
        """List the memory's operations: names, meanings, colours."""
        return OPERATIONS

    @app.get("/api/gallery")
    async def gallery() -> messages.GalleryResponse:
        """List stories that show one idea each, which the model answers right."""
        return service.gallery

    @app.post("/api/answer")
    async def answer(request: Request, asking: messages.AnswerRequest) -> messages.AnswerResponse:
        """Answer a question about a story."""
        found = await queue.do(request, service.answer, asking)
        return messages.AnswerResponse(
            answer=found[0].word,
            answers=tuple(Answer(*guess) for guess in found),
            not_told=service.not_told(asking),
        )

    @app.post("/api/trace", response_model=messages.TraceResponse)
    async def trace(request: Request, tracing: messages.TraceRequest) -> Response:
        """Follow a story, and a question about it, through the memory."""
        traced = await queue.do(request, service.traced, tracing)
        return Response(traced, media_type="application/json")

    @app.get("/api/story")
    async def story(
        request: Request,
        task: Annotated[str, Query(pattern=_TASKS)],
        seed: Annotated[int, Query(ge=0, lt=2**32)] = 0,
    ) -> messages.StoryResponse:
        """Generate a story of a task, with its questions and their correct answers."""
        return await queue.do(request, service.generate, task, seed)

    @app.post("/api/parse")
    async def parse(request: Request, pasting: messages.ParseRequest) -> messages.ParseResponse:
        """Read stories from a text, in the bAbI format or in plain sentences."""
        return await queue.do(request, service.parse, pasting.text)

    @app.post("/api/check")
    async def check(request: Request, checking: messages.CheckRequest) -> messages.CheckResponse:
        """Find words that the model does not know, and known words of similar spelling."""
        return await queue.do(request, service.check, checking)

    @app.post("/api/questions")
    async def questions(
        request: Request, about: messages.QuestionsRequest
    ) -> messages.QuestionsResponse:
        """Suggest questions that fit a story."""
        fitting = await queue.do(request, service.suggest, about)
        return messages.QuestionsResponse(questions=tuple(fitting))


def _add_page(app: FastAPI) -> None:
    for folder in ("style", "script"):
        app.mount(f"/{folder}", StaticFiles(directory=PAGE / folder))

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    @app.get("/icon.svg", include_in_schema=False)
    async def icon() -> FileResponse:
        return FileResponse(PAGE / "icon.svg")


def _add_refusals(app: FastAPI) -> None:
    @app.exception_handler(UserError)
    async def cannot_be_read(_: Request, error: UserError) -> JSONResponse:
        return _problem(400, str(error))

    @app.exception_handler(RequestValidationError)
    async def refused(_: Request, error: RequestValidationError) -> JSONResponse:
        return _problem(422, errors.not_as_described(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def not_there(request: Request, error: HTTPException) -> JSONResponse:
        message = f"{request.method} {request.url.path}: {error.detail}; see /api/openapi.json"
        return _problem(error.status_code, message, error.headers)

    @app.exception_handler(BusyError)
    async def busy(_: Request, __: BusyError) -> JSONResponse:
        return _problem(503, "too many requests at once; try again", {"retry-after": "1"})

    @app.exception_handler(OSError)
    async def no_descriptors(_: Request, error: OSError) -> JSONResponse:
        if error.errno not in OUT_OF_DESCRIPTORS:
            raise error
        return _problem(503, "too many files are open; try again", {"retry-after": "1"})

    @app.exception_handler(ClientDisconnect)
    async def gone(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=499)  # nginx's code for a client that has gone

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> JSONResponse:
        return _problem(500, f"an error in the explorer ({type(error).__name__}); please report it")


def _problem(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": message}, status, headers=headers)
