"""Settings as dataclasses: what each one means, a check of those kept as JSON, a comparison."""

import ast
import inspect
import reprlib
import sys
import textwrap
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from tpr_rnn.errors import UserError

_LIBRARIES = {*sys.stdlib_module_names, "msgspec"}


def meanings(kind: type) -> dict[str, str]:
    """What each field of a dataclass means: the docstring that follows it in the source."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        if base.__module__.partition(".")[0] in _LIBRARIES:  # ABC and Struct have no settings
            continue
        [definition] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip(definition.body, definition.body[1:], strict=False):
            match field, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(meaning))),
                ):
                    found[name] = " ".join(meaning.split())
    return found


def check_settings(kind: type, settings: Mapping[str, Any], whose: str) -> None:
    """Refuse settings that a dataclass does not have, or that are not of their type.

    Args:
        kind: the dataclass.
        settings: the settings by name.
        whose: what they are settings of, for the message.
    """
    if not isinstance(settings, Mapping):
        raise UserError(f"the settings of {whose} are {_short(settings)}; expected an object")
    hints = get_type_hints(kind)
    unknown = set(settings) - set(hints)
    if unknown:
        raise UserError(f"unknown settings of {whose}: {', '.join(sorted(unknown))}")
    for name, value in settings.items():
        too_large = isinstance(value, int | float) and not abs(value) <= sys.float_info.max
        if too_large or not _fits(value, hints[name]):
            raise UserError(f"{name} is {_expected(hints[name])}, not {_short(value)}")


def _fits(value: Any, hint: Any) -> bool:
    """Whether a JSON value is of a type; lists stand for tuples, whole numbers for any."""
    parts = get_args(hint)
    origin = get_origin(hint) or hint
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin in (list, tuple):
        if not isinstance(value, list | tuple):
            return False
        if origin is list or parts[-1] is Ellipsis:
            return all(_fits(each, parts[0]) for each in value)
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if origin is dict:
        return isinstance(value, dict) and all(
            _fits(key, parts[0]) and _fits(each, parts[1]) for key, each in value.items()
        )
    if isinstance(value, bool):  # to Python it is a number too
        return bool(origin is bool)
    return isinstance(value, int | float if origin is float else origin)


_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _expected(hint: Any) -> str:
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_expected(part) for part in get_args(hint) if part is not NoneType)
    return _NAMES.get(hint) or ("an object" if get_origin(hint) is dict else "a list")


def _short(value: Any) -> str:
    """A value for a message: it may be long, and deep."""
    return reprlib.repr(value)


class Difference(NamedTuple):
    """A setting that differs."""

    name: str
    wanted: Any
    there: Any


def first_difference(wanted: Mapping[str, Any], there: Mapping[str, Any]) -> Difference | None:
    """The first setting that is wanted otherwise than it is."""
    for name, value in wanted.items():
        if there.get(name) != value:
            return Difference(name, value, there.get(name))
    return None


def setting_value(value: Any) -> str:
    """As it is given on the command line."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).lower() if value is None or isinstance(value, bool) else f"{value}"
