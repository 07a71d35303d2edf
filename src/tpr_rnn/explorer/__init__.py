"""The explorer: a local web page, and an HTTP interface, on what a model makes of a story.

It shows what `analysis.trace` gives and computes nothing of its own.

    service.py      what can be asked, in plain Python: answer, trace, tell, parse, check
    questions.py    questions that fit a story
    messages.py     what goes in and out, as JSON; the OpenAPI description is made of it
    errors.py       what is wrong with a request, in words
    security.py     whom to serve, how much to take, and what a page may do
    queue.py        how much is worked on at a time
    connections.py  how many connections are open at a time
    app.py          the HTTP interface
    server.py       the process: a socket, a browser
    page/           the page: HTML, CSS, ES modules and SVG, by hand, without a build step
"""
