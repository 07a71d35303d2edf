"""A tiny run, and what of it must not depend on interruptions."""

import json

from tpr_rnn.evaluation.provenance import Source
from tpr_rnn.evaluation.record import RunRecord
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig

SOURCE = Source("a" * 40, dirty=True)


def config(data, **settings) -> RunConfig:
    short = {"epochs": "6", "attempts": "1", "decay_epochs": "0", "start_decay_below": "none"}
    changes = short | {"batch_size": "16", "stop_after_zero_error": "none"} | settings
    return RunConfig(
        task="1",
        seed=2,
        preset="single",
        settings=preset("single").with_settings(changes),
        data=str(data),
    )


def finish(run: Run) -> RunRecord:
    for _ in run.events():
        pass
    return run.finish()


def comparable(directory):
    """All that must not depend on interruptions: weights, result and metrics.

    Not the time, nor the commit, which may be another one meanwhile.
    """
    result = json.loads((directory / "result.json").read_text())
    metrics = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
    for record in (result, *metrics):
        del record["seconds"], record["cpu_seconds"]
    for name in ("checksum", "commit", "dirty"):
        del result[name]
    return (directory / "model.safetensors").read_bytes(), result, metrics
