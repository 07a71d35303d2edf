"""Stories and jobs that take no time."""

from pathlib import Path

from tpr_rnn.data.babi.format import format_story
from tpr_rnn.data.story import Question, Story
from tpr_rnn.experiments.grid import Job, Request

ONE_ATTEMPT = {"attempts": "1", "decay_epochs": "0", "start_decay_below": "none"}


def write_data(directory: Path, *tasks: int) -> Path:
    stories = [
        Story((f"Mary went to the {place}.",), (Question("Where is Mary?", place, 1, (0,)),))
        for place in ("kitchen", "garden", "office") * 20
    ]
    directory.mkdir(exist_ok=True)
    for task in tasks:
        for split in ("train", "valid", "test"):
            path = directory / f"qa{task}_{split}.txt"
            path.write_text("".join(map(format_story, stories)))
    return directory


def jobs(
    data: Path,
    out: Path,
    *tasks: int,
    seeds: int = 1,
    experiment: str | None = None,
    **settings: str,
) -> list[Job]:
    request = Request(
        out=out,
        seeds=range(seeds),
        data=data,
        experiment=experiment,
        settings=ONE_ATTEMPT | {"epochs": "2", "stop_after_zero_error": "none"} | settings,
    )
    return request.jobs(map(str, tasks))
