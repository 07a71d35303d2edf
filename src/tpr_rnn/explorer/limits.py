"""How much the explorer takes at a time. A page of a class room stays far below all of these."""

SENTENCES = 300
"""In a story; a model reads only its last ones anyway."""
CHARACTERS = 200
"""In a sentence or question."""
TEXT = 60_000
"""Characters in a text that is pasted."""
STORIES = 100
"""Stories in a text that is pasted."""
BODY = 256 * 1024
"""Bytes in the body of a request."""
ANSWERS = 20
"""Answers to one question."""
SUGGESTED = 40
"""Questions that are suggested for a story."""
CORRECTED = 20
"""Unknown words for which known ones are looked up in one request."""
CONNECTIONS = 256
"""Connections that are open at a time; a browser opens up to six."""
WORKING = 1
"""Requests that are worked on at a time: threads of Python would only wait for each other."""
WAITING = 100
"""Requests that may wait for that; more are told to come back."""
