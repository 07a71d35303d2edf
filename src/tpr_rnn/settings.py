"""Settings that were kept as JSON: none unknown, each of its kind."""

import sys
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from tpr_rnn.errors import UserError


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
