"""What each of our changes to the paper's recipe for all tasks brings: one left out at a time."""

from tpr_rnn.errors import UserError
from tpr_rnn.experiments.grid import Job, Request

VARIANTS = {
    "all": {},
    "free-keys": {"bounded_keys": "false"},
    "tanh-keys": {"linear_keys": "false"},
    "small-words": {"embedding_scale": "0.01"},
    "no-dropout": {"sentence_dropout": "0"},
    "no-error_weighted_share": {"error_weighted_share": "0"},
}


def recipe_ablation(request: Request) -> list[Job]:
    """One model of all tasks for each seed, with all of our changes and without each of them."""
    chosen = {name for variant in VARIANTS.values() for name in variant} & set(request.settings)
    if chosen:
        raise UserError(f"this experiment changes {', '.join(sorted(chosen))} itself; leave it out")
    return request.jobs(["all"], VARIANTS)
