"""The progress of a run, as a terminal shows it."""

import io
import re

import pytest

from experiments.tiny import write_data
from tpr_rnn.cli.console import Console
from tpr_rnn.cli.options import label
from tpr_rnn.cli.training_view import TrainingView
from tpr_rnn.training.presets import preset
from tpr_rnn.training.run import Run
from tpr_rnn.training.run_config import RunConfig


def shown(tmp_path, *, terminal: bool, **settings: str) -> tuple[Run, str]:
    """A run to its end, and what was shown of it."""
    data = write_data(tmp_path / "data", 1)
    chosen = preset("single").with_settings({"batch_size": "16"} | settings)
    config = RunConfig(task="1", seed=0, preset="single", settings=chosen, data=str(data))
    run = Run.begin(config, tmp_path / "run")
    view = TrainingView(tmp_path / "run", to_stderr=False)
    screen = io.StringIO()
    view.console = Console()
    view.console.file = screen
    view.console._force_terminal = terminal
    view.console._width = 200
    with view.watching(run):
        for event in run.events():
            view.show(event)
    assert run.ended
    return run, screen.getvalue()


def test_six_epochs_are_six_epochs_whatever_the_attempts(tmp_path) -> None:
    run, told = shown(tmp_path, terminal=True, epochs="6")
    assert run.trainer.progress.step == 6 * 4
    assert "up to 6 epochs of 4 steps, in up to 8 attempts" in told
    bars = re.findall(r"(\d+)/(\d+) +\S*.*?attempt 1 of 8", told)
    assert bars[-1] == ("24", "24")


def test_the_bar_of_a_run_that_stops_early_ends_at_its_end(tmp_path) -> None:
    run, told = shown(
        tmp_path,
        terminal=True,
        epochs="400",
        attempts="1",
        stop_after_zero_error="2",
        learning_rate="0.01",
    )
    steps = run.trainer.progress.step
    assert run.trainer.progress.stopped is not None
    assert steps < 1000
    assert re.findall(r"(\d+)/(\d+)", told)[-1] == (str(steps), str(steps))


def test_without_a_terminal_the_last_line_says_that_nothing_is_left(tmp_path) -> None:
    _, told = shown(tmp_path, terminal=False, epochs="2", attempts="1")
    assert re.search(r"step 8 of 8 \| loss .* \| about 0 s left", told)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ""),
        ({"epochs": "6"}, "-epochs=6"),
        (
            {"learning_rate": "1e-3", "epochs": "6", "patience": "none"},
            "-epochs=6-learning_rate=1e-3-patience=none",
        ),
        ({"operations": "write,backlink"}, "-operations=write+backlink"),
        ({"optimizer": "../a b"}, "-optimizer=.._a_b"),
    ],
)
def test_a_run_directory_is_named_after_what_was_changed(changes, expected) -> None:
    assert label(changes) == expected


def test_a_long_name_is_shortened_and_still_its_own() -> None:
    many = {f"setting_number_{n}": str(n) for n in range(20)}
    one, other = label(many), label(many | {"setting_number_19": "0"})
    assert len(one) == len(other) == 80
    assert one != other
    assert one.startswith("-setting_number_0=0-setting_number_10=10")
