"""Parts of the reference that are made from the code, so that they cannot drift from it."""

import json
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from tpr_rnn.cli import app
from tpr_rnn.cli.settings import Setting, all_settings, shown
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.settings import meanings
from tpr_rnn.training.preset import FROM_DATA, Preset
from tpr_rnn.training.presets import PRESETS

ROOT = Path(__file__).parents[1]


def commands() -> str:
    """Every command with its parameters, as `--help` has them."""
    text = app.generate_docs(output_format="markdown")
    text = text[text.index("## tpr-rnn train") :]
    text = re.sub(r" \*\[default: (\(\)|False)\]\*", "", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def settings() -> str:
    """Every setting with its default and its meaning: those of training, and of each model."""
    rows = all_settings(None)
    return "\n\n".join(
        f"## {part[0].upper()}{part[1:]}\n\n{_definitions(_of_part(part, rows))}"
        for part in dict.fromkeys(row.part for row in rows)
    )


def _of_part(part: str, rows: Iterable[Setting]) -> Iterator[tuple[str, str]]:
    for row in rows:
        if row.part == part:
            yield f"`{row.name}` = `{shown(row.default)}`", row.meaning


def presets() -> str:
    """Every preset with what it sets otherwise than the default."""
    return "\n\n".join(
        f"## {name}\n\n{preset.architecture}: " + (", ".join(_changed(preset)) or "the defaults")
        for name, preset in PRESETS.items()
    )


def _changed(preset: Preset) -> Iterator[str]:
    for part, default in ((preset.recipe, Preset().recipe), (preset.config(), _plain(preset))):
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name not in FROM_DATA and value != getattr(default, field.name):
                yield f"`{field.name}={shown(value)}`"


def _plain(preset: Preset) -> Any:
    """The settings of the preset's architecture, as they are by default."""
    return Preset(architecture=preset.architecture).config()


def speed() -> str:
    """The cases of the committed bench, as a table."""
    cases = json.loads((ROOT / "results" / "bench" / "bench.json").read_text("utf-8"))["cases"]
    rows = (
        f"| {case['name']} | {case['threads']} | {case['baseline_questions_per_second']:,.0f} | "
        f"{case['questions_per_second']:,.0f} | {case['speedup']:.0f} times | "
        f"{case['by_question']['speedup']:.0f} times | {case['memory_ratio']:.0f} times |"
        for case in cases
    )
    head = (
        "| stories of | threads | questions a second, paper | ours | faster | step for step | "
        "less memory |"
    )
    return "\n".join((head, "|---|---|---|---|---|---|---|", *rows))


def record() -> str:
    """The fields of a run's record, part by part."""
    return "\n\n".join(
        f"## {kind.__name__}\n\n{_sentence(kind)}\n\n{_definitions(_fields(kind))}"
        for kind in _parts(RunRecord)
    )


def _parts(kind: type) -> list[type]:
    """A record's type and all types of its parts, each once."""
    found = [kind]
    for part in found:
        for hint in get_type_hints(part).values():
            found += [each for each in _structs(hint) if each not in found]
    return found


def _structs(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for part in get_args(hint):
        yield from _structs(part)


def _fields(kind: type) -> Iterator[tuple[str, str]]:
    explained = meanings(kind)
    for name, hint in get_type_hints(kind, include_extras=True).items():
        yield f"`{name}`, {_type(hint)}", explained.get(name, "")


def _type(hint: Any) -> str:
    """A type in words of JSON."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(parts[0])
    if origin in (Union, types.UnionType):
        return " or ".join(map(_type, parts))
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is list:
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return f"object of {_type(parts[1])}"
    if isinstance(hint, type) and issubclass(hint, Struct):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return {float: "number", int: "integer", str: "text", bool: "boolean", types.NoneType: "null"}[
        hint
    ]


def _sentence(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split())


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of names with what they mean, which fits on narrow screens too."""
    return "\n\n".join(f"{name}\n: {meaning}" if meaning else name for name, meaning in pairs)
