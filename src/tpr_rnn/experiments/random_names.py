"""One model for all tasks, trained with names that nobody knows (docs/systematic.md)."""

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job, Request

CHANGES = {"random_name_share": "0.7", "sentence_dropout": "0.05", "accept_below": "5"}


def random_names(request: Request) -> list[Job]:
    """One model of all tasks for each seed."""
    chosen = set(CHANGES) & set(request.settings)
    if chosen:
        raise UserError(f"this experiment changes {', '.join(sorted(chosen))} itself; leave it out")
    return request.jobs(["all"], {"random-names": CHANGES})
