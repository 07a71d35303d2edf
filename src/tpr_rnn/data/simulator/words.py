"""The words of the official stories."""

PEOPLE = ("John", "Mary", "Sandra", "Daniel")
FRIENDS = ("Mary", "Fred", "Bill", "Jeff")
NEIGHBOURS = ("Mary", "Bill", "Fred", "Julie")
ROOMS = ("hallway", "bathroom", "bedroom", "office", "garden", "kitchen")
TOWN = ("school", "kitchen", "bedroom", "cinema", "park", "office")
OBJECTS = ("apple", "football", "milk")

WENT = ("went", "went back", "journeyed", "travelled", "moved")
GOT = ("got", "took", "grabbed", "picked up")
DROPPED = ("dropped", "left", "discarded", "put down")
GAVE = ("gave", "handed", "passed")
THEN = ("then", "afterwards", "after that", "following that")
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

SHAPES = (
    "triangle",
    "pink rectangle",
    "blue square",
    "red square",
    "yellow square",
    "red sphere",
)
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")

_PHRASES = (*WENT, *GOT, *DROPPED, *GAVE, *THEN, *TIMES)
COMMON = (
    *{word for phrase in _PHRASES for word in phrase.split()},
    *NUMBERS,
    *("a", "an", "and", "are", "before", "did", "either", "from", "give", "go", "he", "in", "is"),
    *("longer", "many", "maybe", "no", "not", "of", "or", "she", "the", "there", "they", "to"),
    *("was", "what", "where", "who", "why", "yes"),
)
"""Words of sentences, questions and answers that are never the name of anything."""
