"""The explorer: a local web page, and an HTTP interface, that show how a model reads a story.

It shows the result of `analysis.trace` and computes nothing of its own.

    service.py      what it can do, in plain Python: answer, trace, generate, parse, check
    gallery.py      stories to look at
    questions.py    questions that fit a story, and the words that answer their kind
    messages.py     requests and responses, as JSON; the OpenAPI description comes from them
    errors.py       messages about what is wrong with a request
    security.py     which hosts and sizes are accepted, and what the page may do
    queue.py        how many requests are worked on at a time
    connections.py  how many connections are open at a time
    app.py          the HTTP interface
    server.py       the process: a socket, a browser
    page/           the page: HTML, CSS, ES modules and SVG, by hand, without a build step
"""
