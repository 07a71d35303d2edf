"""The training loop: the paper's protocol, yielding events and never printing."""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from tpr_rnn.data.batches import Batch, epoch_order, make_batch, task_shares
from tpr_rnn.data.encoding import Encoded
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import score
from tpr_rnn.models.model import ModelConfig
from tpr_rnn.models.registry import make_model
from tpr_rnn.training.events import Evaluated, Event, RateHalved, Restarted, Stepped, Stopped
from tpr_rnn.training.nadam import FlatNAdam
from tpr_rnn.training.progress import DIVERGED, Progress
from tpr_rnn.training.random_names import NO_ANSWER, RandomNames
from tpr_rnn.training.recipe import Recipe

RESTARTS = 10
"""So many NaNs at the start are forgiven."""


class Trainer:
    """Trains a model from a seed; the same seed gives the same weights, bit for bit."""

    def __init__(
        self,
        config: ModelConfig,
        recipe: Recipe,
        *,
        train: Encoded,
        valid: Encoded,
        seed: int,
        device: torch.device | None = None,
    ) -> None:
        self.config, self.recipe, self.seed = config, recipe, seed
        self.train, self.valid = train, valid
        self.device = device or torch.device("cpu")
        if recipe.random_name_share and not len(train.names):
            raise UserError(
                "random names need names, and no training question has any (a word with a "
                "capital that is not its first); leave random_name_share out"
            )
        self.steps_per_epoch = math.ceil(len(train) / recipe.batch_size)
        self.progress = Progress()
        self._order: tuple[int, Int[np.ndarray, " n"]] | None = None
        self._initialise(seed)
        self._best = self.optimizer.theta.clone()

    def _initialise(self, seed: int) -> None:
        self.progress.seeds.append(seed)
        generator = torch.Generator().manual_seed(seed)
        self.model = make_model(self.config, generator).to(self.device)
        recipe = self.recipe
        names = torch.from_numpy(self.train.names).to(self.device)
        self._random_names = RandomNames(self.model.encoder.word_vectors, names)
        if recipe.random_name_share:
            self._random_names.settle(generator)
        self.optimizer = FlatNAdam(
            self.model.parameters(), beta1=recipe.beta1, beta2=recipe.beta2, epsilon=recipe.epsilon
        )

    def run(self) -> Iterator[Event]:
        """Train to the end. Between any two events the state is whole and may be saved."""
        while not self.ended:
            step = self.progress.step
            if step != self.progress.evaluated and step % self.steps_per_epoch == 0:
                yield from self._evaluate()
            else:
                yield self._step()

    @property
    def steps(self) -> int:
        """Steps in all, at most: once the task is learned, the end is known."""
        now, recipe = self.progress, self.recipe
        last = now.begun + recipe.last_step(self.steps_per_epoch, self._learned_after())
        if now.decay_from is not None:
            return last
        return last + (recipe.attempts - now.attempt) * recipe.decay_step(self.steps_per_epoch)

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to do."""
        return self.progress.stopped is not None or self.progress.evaluated == self.steps

    def use_best(self) -> None:
        """Put the best weights into the model."""
        self.optimizer.theta.copy_(self._best)

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that a resume needs."""
        return {**self.optimizer.state(), "best": self._best}

    def restore(self, progress: Progress, tensors: dict[str, Tensor]) -> None:
        """Go on from a saved state."""
        self.progress = progress
        self.optimizer.restore(tensors, progress.step - progress.begun)
        self._best.copy_(tensors["best"])

    def _step(self) -> Event:
        now = self.progress
        self.optimizer.zero_gradient()
        batch = self._batch()
        # What is random depends on seed and step alone, so that a resumed run sees the same.
        with torch.random.fork_rng():
            torch.manual_seed(self.seed + now.step * 1_000_003)
            with self._names(batch) as told:
                logits = self.model(told)
                loss = cross_entropy(logits, told.answer, ignore_index=NO_ANSWER)
                value = float(loss.detach())
                if not math.isfinite(value):
                    return self._give_up_or_restart(value)
                loss.backward()
        if (
            self.recipe.error_weighted_share and told is batch
        ):  # what random names get wrong is no lack of practice
            self._count_mistakes(batch, logits)
        if self.recipe.random_name_share:
            self._random_names.keep()
        self.optimizer.clip(self.recipe.clip_norm)
        self.optimizer.step(self._rate())
        now.step += 1
        now.loss_sum += value
        return Stepped(now.step, value)

    def _names(self, batch: Batch) -> AbstractContextManager[Batch]:
        """The batch as it is told: with the names of its people, or with random ones.

        These come less often as the rate falls, so that in the end the model is as good with the
        names that it knows as one that never met a stranger.
        """
        recipe = self.recipe
        share = recipe.random_name_share * min(1.0, self._rate() / recipe.learning_rate)
        if recipe.random_name_share and torch.rand(()) < share:
            return self._random_names.met(batch)
        return nullcontext(batch)

    def _count_mistakes(self, batch: Batch, logits: Float[Tensor, "n v"]) -> None:
        now = self.progress
        right = logits.argmax(dim=1) == batch.answer
        for counts, tasks in ((now.asked, batch.task), (now.missed, batch.task[~right])):
            for task, count in Counter(tasks.tolist()).items():
                counts[str(task)] = counts.get(str(task), 0) + count

    def _rate(self) -> float:
        now = self.progress
        rate = self.recipe.rate(
            now.step - now.begun, self.steps_per_epoch, self._learned_after(), now.attempt
        )
        return rate * (0.5 if now.halved_at is not None else 1.0)

    def _learned_after(self) -> int | None:
        """Steps of the present attempt after which the task was learned."""
        now = self.progress
        return None if now.decay_from is None else now.decay_from - now.begun

    def _batch(self) -> Batch:
        epoch, position = divmod(self.progress.step, self.steps_per_epoch)
        if self._order is None or self._order[0] != epoch:
            self._order = (epoch, epoch_order(self.train, self.seed, epoch, self._shares()))
        size = self.recipe.batch_size
        chosen = self._order[1][position * size : (position + 1) * size]
        return make_batch(self.train, chosen, self.model.story_groups()).to(self.device)

    def _shares(self) -> dict[int, float] | None:
        """How much of an epoch each task gets; None: as much as it has questions."""
        if not self.recipe.error_weighted_share:
            return None
        errors = {int(task): error for task, error in self.progress.errors.items()}
        return task_shares(self.train, errors, self.recipe.error_weighted_share)

    def _evaluate(self) -> Iterator[Event]:
        """Score the model; the state is brought up to date before the first event."""
        now, recipe = self.progress, self.recipe
        valid = score(self.model, self.valid, self.device)
        scores = (valid.error, valid.loss)
        best = (self._leaves_one_behind(valid.worst), *scores) < (
            self._leaves_one_behind(now.worst),
            *now.best,
        )
        epoch = now.step // self.steps_per_epoch
        train_loss = now.loss_sum / (now.step - now.evaluated)
        events: list[Event] = [Evaluated(now.step, epoch, self._rate(), train_loss, valid, best)]
        now.evaluated, now.loss_sum = now.step, 0.0
        now.errors = {
            task: 100 * now.missed.get(task, 0) / asked for task, asked in now.asked.items()
        }
        now.asked, now.missed = {}, {}
        if scores < now.attempt_best:
            now.attempt_best, now.better_at = scores, now.step
        if best:
            now.best, now.best_step = scores, now.step
            now.worst = valid.worst
            self._best.copy_(self.optimizer.theta)
        if now.halved_at is None and valid.loss < (recipe.halve_lr_below_loss or 0.0):
            now.halved_at = now.step
            events.append(RateHalved(now.step))
        if now.decay_from is None and valid.worst < self._mark():
            now.decay_from = now.step
        now.perfect = now.perfect + 1 if valid.error == 0 else 0
        reason = self._reason_to_stop() if now.step < self.steps else None
        if self._in_vain(over=reason is not None or now.step == self.steps):
            events.append(self._attempt_again())
        elif reason:
            now.stopped = reason
            events.append(Stopped(now.step, reason))
        yield from events

    def _reason_to_stop(self) -> str | None:
        """Why the attempt should end early, if it should."""
        now, recipe = self.progress, self.recipe
        if now.perfect == recipe.stop_after_zero_error:
            return f"no validation error in {now.perfect} evaluations in a row"
        if recipe.start_decay_below is not None and now.decay_from is None:
            return None  # a plateau is left or given up; to wait is what its epochs are for
        since = max(now.better_at, now.decay_from or now.begun)
        waited = (now.step - since) // self.steps_per_epoch
        if recipe.patience is not None and waited >= recipe.patience:
            return f"no better model in {waited} evaluations in a row"
        return None

    def _mark(self) -> float:
        """The error below which the rate begins to fall; higher when there is no time left."""
        now, recipe = self.progress, self.recipe
        over = now.step - now.begun == recipe.decay_step(self.steps_per_epoch)
        return max(recipe.start_decay_below or 0.0, recipe.decay_anyway_below if over else 0.0)

    def _in_vain(self, *, over: bool) -> bool:
        """Whether the attempt has not learned the task well enough, and there is another one."""
        now, recipe = self.progress, self.recipe
        if recipe.start_decay_below is None or now.attempt == recipe.attempts:
            return False
        if now.decay_from is None:
            return now.step - now.begun == recipe.decay_step(self.steps_per_epoch)
        return over and self._leaves_one_behind(now.worst)

    def _leaves_one_behind(self, worst: float) -> bool:
        """Whether a model's worst task is not learned well enough for it to be accepted."""
        bar = self.recipe.accept_below or self.recipe.start_decay_below
        return bar is not None and worst >= bar

    def _attempt_again(self) -> Event:
        now, seed = self.progress, self._next_seed()
        epochs = (now.step - now.begun) // self.steps_per_epoch
        reason = f"not learned in {epochs} epochs"
        if now.decay_from is not None:
            reason = f"still at {now.worst:.1f} % after {epochs} epochs"
        now.attempt += 1
        now.begun = now.step
        now.halved_at = now.decay_from = None
        now.attempt_best, now.better_at = (101.0, 0.0), now.step
        now.errors = {}
        self._initialise(seed)
        return Restarted(now.step, seed, reason)

    def _next_seed(self) -> int:
        """Far from the seeds that a person would choose for other runs."""
        return self.seed + 1_000_003 * len(self.progress.seeds)

    def _give_up_or_restart(self, loss: float) -> Event:
        now = self.progress
        if now.step >= self.recipe.warmup_steps and now.best_step is not None:
            now.stopped = f"{DIVERGED} {loss} at step {now.step + 1}"
            return Stopped(now.step, now.stopped)
        if len(now.seeds) > RESTARTS:
            raise UserError(
                f"{DIVERGED} {loss} at the start {len(now.seeds)} times, with the seeds "
                f"{', '.join(map(str, now.seeds))}; try a smaller learning_rate, "
                "or bounded_keys=true"
            )
        failed_at, seed = now.step + 1, self._next_seed()
        now.step = now.evaluated = now.begun
        now.loss_sum, now.asked, now.missed, now.errors = 0.0, {}, {}, {}
        self._initialise(seed)
        return Restarted(failed_at, seed, f"{DIVERGED} {loss} at step {failed_at}")
