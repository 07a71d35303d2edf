"""A model as the Hugging Face Hub has it: a directory that others can load, and a name for it.

config.json         the kind of model and its settings, side by side
model.safetensors   its tensors
vocabulary.json     its words, in their order
README.md           the card, with the errors of its run where they are known
"""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpr_rnn.errors import UserError
from tpr_rnn.files import check_directory, make_directory, read_tensors, write_atomically
from tpr_rnn.models.reader import Reader
from tpr_rnn.models.registry import ARCHITECTURES

if TYPE_CHECKING:
    from tpr_rnn.evaluation.record import RunRecord

CONFIG, MODEL, VOCABULARY, CARD = FILES = (
    "config.json",
    "model.safetensors",
    "vocabulary.json",
    "README.md",
)
_OF_READER = ("max_sentences", "temperature")
"""What config.json has of the reader; all else but the architecture is of the model."""

_CARD = """\
---
{front}
---

# {title} with {parameters:,} parameters

A model of [tpr-rnn](https://arxiv.org/abs/1811.12143): it reads a story and answers questions about
it. It knows {words:,} words, and sentences of up to {max_words} of them.

```python
from tpr_rnn import Reader

reader = Reader.from_pretrained("this directory, or its name on the hub")
print(reader.answer(["Mary went to the kitchen."], "Where is Mary?"))
```

{results}
"""


def save(reader: Reader, directory: Path, record: "RunRecord | None" = None) -> None:
    """Write the files of a model; see `Reader.save_pretrained`."""
    make_directory(directory)
    described = reader.description()
    config = {
        "architecture": described["model"],
        **{name: described[name] for name in _OF_READER},
        **described["config"],
    }
    _write_json(directory / CONFIG, config)
    _write_json(directory / VOCABULARY, described["vocabulary"])
    write_atomically(directory / CARD, card(reader, record).encode())
    reader.save(directory / MODEL)


def load(place: Path | str, revision: str | None = None) -> Reader:
    """Read the files of a model; see `Reader.from_pretrained`."""
    directory = Path(place)
    if not directory.is_dir() and re.fullmatch(r"[\w.-]+/[\w.-]+", str(place)):
        directory = _download(str(place), revision)
    check_directory(
        directory, "a directory that `Reader.save_pretrained` wrote, or a hub's NAME/MODEL"
    )
    settings = _read_json(directory / CONFIG, dict)
    if "architecture" not in settings or "recipe" in settings:
        raise UserError(
            f"{directory / CONFIG}: not that of a model which `Reader.save_pretrained` wrote; "
            "`Reader.load` reads the directory of a run"
        )
    content = {name: settings.pop(name, None) for name in ("architecture", *_OF_READER)}
    content["model"] = content.pop("architecture")
    content["vocabulary"] = _read_json(directory / VOCABULARY, list)
    _, tensors = read_tensors(directory / MODEL)
    return Reader.of(directory, content | {"config": settings}, tensors)


def card(reader: Reader, record: "RunRecord | None" = None) -> str:
    """The model card: what the hub wants to know, in its front matter, and what a person does."""
    config = reader.model.config
    title = ARCHITECTURES[reader.description()["model"]].title
    front: dict[str, Any] = {
        "library_name": "tpr-rnn",
        "pipeline_tag": "question-answering",
        "language": ["en"],
        "tags": ["tpr-rnn", "tensor-product-representation", "babi"],
    }
    results = "What it was trained on is not known here."
    if record is not None:
        front["model-index"] = [{"name": title, "results": [_result(record)]}]
        results = _results(record)
    return _CARD.format(
        # JSON is YAML, too.
        front="\n".join(f"{name}: {json.dumps(value)}" for name, value in front.items()),
        title=title,
        parameters=sum(tensor.numel() for tensor in reader.model.parameters()),
        words=len(reader.vocabulary),
        max_words=config.max_words,
        results=results,
    )


def _result(record: "RunRecord") -> dict[str, Any]:
    """The mean over tasks of a run, as an entry of `model-index`."""
    errors, split = (record.valid, "validation") if record.test is None else (record.test, "test")
    return {
        "task": {"type": "question-answering"},
        "dataset": {"type": "babi_qa", "name": f"{record.data}, {split}", "split": split},
        "metrics": [{"type": "accuracy", "value": round(100 - errors.error, 4)}],
    }


def _results(record: "RunRecord") -> str:
    """The errors of a run, task by task."""
    test = record.test
    lines = [
        f"Trained on {record.questions['train']:,} questions of `{record.data}` (checksum "
        f"{record.data_sha256[:16]}),",
        f"preset `{record.preset}`, seed {record.seed}. Errors in %, of all questions of a task:",
        "",
        "| task | validation | test |",
        "|---|---|---|",
    ]
    for task, each in {**record.valid.per_task}.items():
        scored = None if test is None else test.per_task.get(task)
        found = "not scored" if scored is None else f"{scored.error:.1f}"
        lines.append(f"| {task} | {each.error:.1f} | {found} |")
    return "\n".join(lines)


def _download(name: str, revision: str | None) -> Path:
    """The directory of a model of the hub on this machine, from its cache if it is there."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise UserError(
            f"{name}: no such directory; for models of the hub install huggingface_hub (the extra "
            "hub: `pip install '.[hub]'` in a clone)"
        ) from None
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(FILES)))
    except LocalEntryNotFoundError:
        raise UserError(
            f"{name}: no such directory, and not in the hub's cache on this machine, which is "
            "offline or cannot reach the hub; bring the files here and give their directory"
        ) from None
    except (HfHubHTTPError, ValueError) as error:
        raise UserError(f"{name}: the hub does not give it ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _write_json(path: Path, content: Any) -> None:
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def _read_json(path: Path, kind: type) -> Any:
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; a model has {', '.join(FILES)}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: cannot be read ({_first_line(error)})") from error
    if not isinstance(content, kind):
        raise UserError(f"{path}: expected a JSON {'object' if kind is dict else 'list'}")
    return content
