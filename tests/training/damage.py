"""Files as a failing disk leaves them."""

from collections.abc import Iterator
from random import Random


def damaged(content: bytes, count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Damaged copies of a file, and what was done to each; the kinds of damage take turns."""
    random = Random(seed)
    for number in range(count):
        kind = ("flipped bit", "zeroed", "swapped", "cut off", "overwritten")[number % 5]
        whole = bytearray(content)
        # Half of the damage goes to the first 2,000 bytes, where a tensor file has its header.
        end = len(whole) if random.random() < 0.5 else min(len(whole), 2000)
        at = random.randrange(end)
        length = min(random.randint(1, 64), len(whole) - at)
        if kind == "flipped bit":
            whole[at] ^= 1 << random.randrange(8)
        elif kind == "zeroed":
            whole[at : at + length] = bytes(length)
        elif kind == "swapped":
            other = random.randrange(len(whole) - length + 1)
            one, two = whole[at : at + length], whole[other : other + length]
            whole[at : at + length] = two
            whole[other : other + length] = one
        elif kind == "cut off":
            del whole[at:]
        else:
            whole[at : at + length] = random.randbytes(length)
        if bytes(whole) != content:
            yield f"{kind} at {at}, {length} bytes, number {number}", bytes(whole)
