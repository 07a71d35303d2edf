"""How much the explorer accepts. A whole class of pupils stays far below all of these."""

SENTENCES = 300
"""In a story; a model reads only the last ones anyway."""
CHARACTERS = 200
"""In a sentence or question."""
TEXT = 60_000
"""Characters in a pasted text."""
STORIES = 100
"""Stories in a pasted text."""
BODY = 256 * 1024
"""Bytes in the body of a request."""
ANSWERS = 20
"""Answers to one question."""
SUGGESTED = 12
"""Questions suggested for a story."""
CORRECTED = 20
"""Unknown words for which similar known ones are looked up in one request."""
CONNECTIONS = 256
"""Connections that are open at a time; a browser opens up to six."""
REQUEST_SECONDS = 10.0
"""For a request to arrive as a whole: a slow client must not keep a connection from others."""
ANSWER_SECONDS = 120.0
"""For its answer to be computed, sent and read."""
WORKING = 1
"""Requests worked on at a time: more Python threads would only wait for each other."""
WAITING = CONNECTIONS - WORKING
"""Requests that may wait: one of each connection; further ones are refused with a retry-after."""
