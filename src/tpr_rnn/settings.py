"""Settings as dataclasses: what each one means, and a check of those that were kept as JSON."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from tpr_rnn.errors import UserError


def meanings(kind: type) -> dict[str, str]:
    """What each field of a dataclass means: the docstring that follows it in the source."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        if base.__module__ in sys.stdlib_module_names:  # ABC has no settings
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
    """Refuse settings that a dataclass does not have, or that are not what they should be.

    Args:
        kind: the dataclass; those of its fields that are numbers or booleans are looked at.
        settings: the settings by name.
        whose: what they are settings of, for the message.
    """
    hints = get_type_hints(kind)
    unknown = set(settings) - set(hints)
    if unknown:
        raise UserError(f"unknown settings of {whose}: {', '.join(sorted(unknown))}")
    for name, value in settings.items():
        kinds = get_args(hints[name]) or (hints[name],)
        if value is None and type(None) in kinds:
            continue
        if bool in kinds and not isinstance(value, bool):
            raise UserError(f"{name} is true or false, not {value!r}")
        if int in kinds and (isinstance(value, bool) or not isinstance(value, int)):
            raise UserError(f"{name} is a whole number, not {value!r}")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if float in kinds and not (number and abs(value) <= sys.float_info.max):
            raise UserError(f"{name} is a number, not {value!r}")
