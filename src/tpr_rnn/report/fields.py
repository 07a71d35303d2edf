"""The fields of a record, checked: one that is not what it should be is named."""

from collections.abc import Mapping
from typing import Any

HUGE = 1e15
"""Nothing in a record is as much: neither seconds, nor steps, nor a loss."""


def has(content: Any, name: str) -> bool:
    """Whether there is such a field."""
    return isinstance(content, dict) and name in content


def text(content: Any, name: str) -> str:
    """A field that is a text."""
    value = _field(content, name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r}; expected a text")
    return value


def whole(content: Any, name: str) -> int:
    """A field that is a whole number, 0 or more."""
    value = _field(content, name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= HUGE:
        raise ValueError(f"{name} is {value!r}; expected a whole number, 0 or more")
    return value


def number(content: Any, name: str, most: float = HUGE) -> float:
    """A field that is a number from 0 up; NaN and infinity are none."""
    value = _field(content, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        limit = f"from 0 to {most:g}" if most < HUGE else "0 or more"
        raise ValueError(f"{name} is {value!r}; expected a number, {limit}")
    return float(value)


def percent(content: Any, name: str) -> float:
    """A field that is a number from 0 to 100."""
    return number(content, name, most=100.0)


def table(content: Any, name: str) -> Mapping[str, Any]:
    """A field that is a table of others by name."""
    value = _field(content, name)
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {value!r}; expected names with their values")
    return value


def _field(content: Any, name: str) -> Any:
    if not has(content, name):
        raise ValueError(f"{name} is missing")
    return content[name]
