"""The words of wide stories: those of all official ones, and some more of each kind."""

from collections.abc import Mapping
from types import MappingProxyType

from tpr_rnn.data.simulator.words import FRIENDS, NEIGHBOURS, PEOPLE, ROOMS, TOWN

UNKNOWN = "unknown"
"""The answer to a question that nothing told answers."""

PRONOUN_OF: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("John", "Daniel", "Fred", "Bill", "Jeff", "Bernhard", "Greg", "Julius"), "he")
    | dict.fromkeys(("Brian", "Jason", "Antoine", "Sumit", "Yann", "Peter", "Omar", "Ivan"), "he")
    | dict.fromkeys(("Mary", "Sandra", "Julie", "Gertrude", "Winona", "Jessica"), "she")
    | dict.fromkeys(("Emily", "Lily", "Anna", "Mei", "Fatima", "Rosa"), "she")
)
"""All names of the official stories and some others, each with its pronoun."""

NAMES = tuple(PRONOUN_OF)
THINGS = (
    *("apple", "football", "milk", "pajamas"),
    *("book", "hat", "key", "lamp", "letter", "umbrella", "violin", "cup", "basket", "ball"),
)
PLACES = (
    *dict.fromkeys((*ROOMS, *TOWN)),
    *("attic", "cellar", "garage", "library", "station", "market", "museum", "shop"),
)

SLOTS = 20
"""New words of each kind that a story can have."""

NAME_SLOTS = tuple(f"name-{number}" for number in range(1, SLOTS + 1))
THING_SLOTS = tuple(f"thing-{number}" for number in range(1, SLOTS + 1))
PLACE_SLOTS = tuple(f"place-{number}" for number in range(1, SLOTS + 1))

OFFICIAL_PEOPLE = tuple(dict.fromkeys((*PEOPLE, *FRIENDS, *NEIGHBOURS)))
"""Who walks and carries things in official stories."""
