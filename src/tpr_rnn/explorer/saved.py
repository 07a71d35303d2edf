"""The page in a file of its own, with one story and its answers: to show without a server.

The file holds the page's own scripts, styles and icon, and what they would ask the server
(`page/script/api.js` looks for that first). So there is one way to draw, and nothing to load.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from tpr_rnn.explorer import messages
from tpr_rnn.explorer.app import PAGE
from tpr_rnn.explorer.errors import check_sizes
from tpr_rnn.explorer.service import OPERATIONS, Service

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def saved_page(
    service: Service, story: Sequence[str], question: str, kinds: Mapping[str, str]
) -> str:
    """The page with the answer to a question about a story, as HTML.

    Args:
        service: the model.
        story: the sentences.
        question: the question.
        kinds: what new words are, where their sentences do not tell it.
    """
    asked = messages.KnownQuestion(text=question, answer=None, after=len(story), supports=())
    check_sizes([messages.KnownStory(sentences=tuple(story), questions=(asked,))])
    tracing = messages.TraceRequest.model_validate(
        {"story": list(story), "question": question, "kinds": kinds}
    )
    page = (PAGE / "index.html").read_text("utf-8")
    page = re.sub(r'<link rel="stylesheet" href="style/(\w+).css">', _style, page)
    page = page.replace("</head>", f"<style>{_file('style/saved.css')}</style>\n  </head>")
    page = page.replace("icon.svg", _as_data(_file("icon.svg"), "image/svg+xml"))
    page = page.replace('<script type="module" src="script/main.js"></script>', _scripts(tracing))
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n    {_policy()}')
    page = re.sub(
        "<title>.*</title>",
        lambda _: f"<title>{escape(question)} · tpr-rnn</title>",
        page,
    )
    answers = (
        f'<script type="application/json" id="saved">{_json(_answers(service, tracing))}</script>'
    )
    return page.replace("<body>", f'<body class="saved">\n    {answers}')


def _answers(service: Service, tracing: messages.TraceRequest) -> dict[str, Any]:
    """What the page asks the server, by address; and the story that it is about."""
    checking = messages.CheckRequest(
        story=tracing.story, question=tracing.question, kinds=tracing.kinds
    )
    return {
        "told": [tracing.story, tracing.question],
        "/api/model": service.description.model_dump(mode="json"),
        "/api/gallery": messages.GalleryResponse(stories=()).model_dump(),
        "/api/operations": OPERATIONS.model_dump(mode="json"),
        "/api/check": service.check(checking).model_dump(mode="json"),
        "/api/trace": json.loads(service.traced(tracing)),
        "/api/questions": {"questions": []},
    }


def _scripts(tracing: messages.TraceRequest) -> str:
    """The modules by name, the story in the address, and the start of the page."""
    modules = {
        f"page/{path.stem}": _as_data(
            re.sub(r'from "\./(\w+)\.js"', r'from "page/\1"', path.read_text("utf-8")),
            "text/javascript",
        )
        for path in sorted((PAGE / "script").glob("*.js"))
    }
    told = urlencode({"story": "\n".join(tracing.story), "question": tracing.question or ""})
    opening = (
        'if (!new URLSearchParams(location.hash.slice(1)).has("story")) '
        f'history.replaceState(null, "", {_json("#" + told)});'
    )
    return (
        f'<script type="importmap">{_json({"imports": modules})}</script>\n'
        f"    <script>{opening}</script>\n"
        '    <script type="module">import "page/main";</script>'
    )


def _policy() -> str:
    return f'<meta http-equiv="content-security-policy" content="{POLICY}">'


def _style(link: re.Match[str]) -> str:
    return f"<style>{_file(f'style/{link[1]}.css')}</style>"


def _file(path: str) -> str:
    return (PAGE / path).read_text("utf-8")


def _as_data(text: str, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"


def _json(value: object) -> str:
    """JSON that cannot end the script around it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
