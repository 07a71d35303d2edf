"""Training steps of every system in the registry, by its presets: what `bench --systems` shows."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch

from tpr_rnn.data.encoding import Encoded, build_vocabulary, encode, longest_sentence
from tpr_rnn.data.simulator import TASK_TITLES, generate
from tpr_rnn.models.registry import ARCHITECTURES, TPR_RNN
from tpr_rnn.training.preset import Preset
from tpr_rnn.training.presets import PRESETS
from tpr_rnn.training.trainer import Trainer

WORKS = {"task-1": ["1"], "task-2": ["2"], "all-tasks": list(TASK_TITLES)}


def measure_systems(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Questions a second of full training steps, on one thread: batch, loss, gradient, optimizer.

    Each preset is measured on what it is for. Ours for sentences are `single` and `all`.
    """
    torch.set_num_threads(1)
    systems = []
    for work, tasks in WORKS.items():
        say(f"generating stories for {work}")
        questions = 100 if quick else 1_000
        stories = {
            task: generate(task, questions=questions * 20 // len(tasks))["train"] for task in tasks
        }
        told = [story for each in stories.values() for story in each]
        vocabulary, words = build_vocabulary(told), longest_sentence(told)
        data = encode(stories, vocabulary, words)
        for name in presets_for(work):
            say(f"{name}, {work}")
            preset = PRESETS[name]
            # Easy stories are learned within seconds; the measurement goes on all the same.
            recipe = replace(
                preset.recipe, epochs=1_000_000, stop_after_zero_error=None, patience=None
            )
            config = preset.config(vocabulary_size=len(vocabulary), max_words=words)
            trainer = Trainer(config, recipe, train=data, valid=data, seed=0)
            systems.append(
                {
                    "system": ARCHITECTURES[preset.architecture].title,
                    "preset": name,
                    "work": work,
                    "parameters": sum(each.numel() for each in trainer.model.parameters()),
                    "questions_per_second": round(_rate(trainer, data, 0.3 if quick else 5.0), 1),
                }
            )
    return {"systems": systems}


def presets_for(work: str) -> Iterator[str]:
    """The presets that are measured on a work: those for all tasks, or those for one.

    A system that has presets of one kind only is measured with these on everything.
    """
    for architecture in ARCHITECTURES:
        names = [name for name, each in PRESETS.items() if _compared(name, each, architecture)]
        fitting = [name for name in names if name.endswith("all") == (work == "all-tasks")]
        yield from fitting or names


def _compared(name: str, preset: Preset, architecture: str) -> bool:
    ours = preset.architecture != TPR_RNN or name in ("single", "all")
    return ours and preset.architecture == architecture


def _rate(trainer: Trainer, data: Encoded, seconds: float) -> float:
    """Questions a second of processor time, whatever else the machine does.

    The first steps, in which kernels and buffers are made, do not count, nor do evaluations.
    """
    steps = trainer.run()
    for _ in itertools.islice(steps, 2):
        pass
    first, taken = trainer.progress.step, 0.0
    while taken < seconds:
        step, begun = trainer.progress.step, time.process_time()
        next(steps)
        if trainer.progress.step > step:
            taken += time.process_time() - begun
    return (trainer.progress.step - first) / trainer.steps_per_epoch * len(data) / taken
