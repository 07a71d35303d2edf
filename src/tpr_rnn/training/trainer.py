"""The training loop: the paper's protocol, yielding events and never printing."""

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tpr_rnn.data.batches import (
    Batch,
    Words,
    bucketed_batches,
    count_stories,
    epoch_order,
    make_batch,
    make_part,
    story_batches,
    task_shares,
)
from tpr_rnn.data.encoding import Encoded
from tpr_rnn.evaluation.scoring import Scores, score
from tpr_rnn.models.model import ModelConfig
from tpr_rnn.models.registry import make_model
from tpr_rnn.team import Team
from tpr_rnn.training.attempts import AttemptPolicy, StartAnew, Stop
from tpr_rnn.training.events import (
    Evaluated,
    Event,
    LearningRateHalved,
    Restarted,
    Stepped,
    Stopped,
)
from tpr_rnn.training.optimizers import OPTIMIZERS
from tpr_rnn.training.progress import Progress
from tpr_rnn.training.random_names import NO_ANSWER, RandomNames
from tpr_rnn.training.random_numbers import forked, seed_device
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.renaming import Renaming
from tpr_rnn.training.schedule import Schedule

SEED_STRIDE = 1_000_003
"""Seeds of a run are so far apart: far from those that a person would choose for other runs."""


RENAMING = 1
"""Apart from the orders of epochs, which are drawn from a seed and an epoch."""


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
        renaming: Renaming | None = None,
        team: Team | None = None,
    ) -> None:
        self.config, self.recipe, self.seed = config, recipe, seed
        self.train, self.valid = train, valid
        self.renaming = renaming
        """The words that may change places, where `rename_share` of the recipe wants it."""
        self.device = device or torch.device("cpu")
        self.team = team
        """Other processes that train the same model; each has its share of every batch."""
        self.steps_per_epoch = (
            math.ceil(len(train) / recipe.batch_size)
            if recipe.batch_stories is None
            else math.ceil(count_stories(train) / recipe.batch_stories)
        )
        self.schedule = Schedule(recipe, self.steps_per_epoch)
        self.policy = AttemptPolicy(recipe, self.schedule)
        self.progress = Progress()
        self._chosen: tuple[int, list[Int[np.ndarray, " _"]]] | None = None
        self._initialise(seed)
        self._best = self._copy_of_model()

    def _initialise(self, seed: int) -> None:
        """Make a fresh model, and an optimizer of its parameters."""
        self.progress.seeds.append(seed)
        generator = torch.Generator().manual_seed(seed)
        self.model = make_model(self.config, generator).to(self.device)
        self._dropouts = [each for each in self.model.modules() if isinstance(each, nn.Dropout)]
        recipe = self.recipe
        if recipe.linear_start_epochs:
            self.model.set_linear(True)
        self._random_names: RandomNames | None = None
        if recipe.random_name_share:
            self._random_names = RandomNames.of(self.model, self.train)
            self._random_names.settle(generator)
        kind = OPTIMIZERS[recipe.optimizer]
        self.optimizer = kind(
            self.model.parameters(),
            weight_decay=recipe.weight_decay,
            **{name: getattr(recipe, name) for name in kind.settings},
        )

    def run(self) -> Iterator[Event]:
        """Train to the end. Between any two events the state is whole and may be saved."""
        while not self.ended:
            step = self.progress.step
            if step != self.progress.last_evaluation and step % self.steps_per_epoch == 0:
                yield from self._evaluate()
            else:
                yield self._step()

    def end(self, reason: str) -> Iterator[Event]:
        """Score the model as it is, and end."""
        if not self.ended and self.progress.step != self.progress.last_evaluation:
            yield from self._evaluate()
        if not self.ended:
            yield self._stop(reason)

    @property
    def steps(self) -> int:
        """Steps of all attempts, at most."""
        return self.policy.last_step(self.progress)

    @property
    def expected_steps(self) -> int:
        """Steps of all attempts, if the present one is the last."""
        return self.policy.expected_last_step(self.progress)

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to do."""
        now = self.progress
        return now.stopped is not None or now.last_evaluation == self.steps

    def use_best(self) -> None:
        """Put the best weights, and the buffers that go with them, into the model."""
        self.model.load_state_dict(self._best)

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that a resume needs: parameters and buffers, and the optimizer's state."""
        return {
            f"{part}.{name}": tensor
            for part, tensors in self._state().items()
            for name, tensor in tensors.items()
        }

    def _state(self) -> dict[str, Mapping[str, Tensor]]:
        return {
            "model": self.model.state_dict(),
            "best": self._best,
            "optimizer": self.optimizer.state(),
        }

    def restore(self, progress: Progress, tensors: Mapping[str, Tensor]) -> None:
        """Go on from a saved state; one that does not fit is an error, and changes nothing."""
        for name, tensor in self.tensors().items():
            saved = tensors[name]
            if (saved.shape, saved.dtype) != (tensor.shape, tensor.dtype):
                raise ValueError(f"{name} is of another size or type")
        with torch.no_grad():
            for name, tensor in self.tensors().items():
                tensor.copy_(tensors[name])
        self.progress = progress
        self.optimizer.steps = progress.attempt_step

    def _step(self) -> Event:
        now = self.progress
        self.optimizer.zero_gradient()
        if now.attempt_step == self.recipe.linear_start_epochs * self.steps_per_epoch > 0:
            self.model.set_linear(False)
        self._switch_dropout()
        batch = self._batch()
        # What is random depends on seed and step alone, so that a resumed run sees the same.
        with forked(self.device):
            seed_device(self.device, self.seed + now.step * SEED_STRIDE)
            with self._names(batch) as told:
                value, logits = self._find_gradient(told)
        if not math.isfinite(value):
            return self._diverged(value)
        if self.recipe.error_weighted_share and told is batch:  # random names are no measure
            self._count_mistakes(batch, logits)
        self._change_parameters()
        now.step += 1
        now.loss_sum += value
        return Stepped(now.step, value)

    def _find_gradient(self, batch: Batch) -> tuple[float, Float[Tensor, "n v"] | None]:
        """The gradient of a batch, in the optimizer's buffer; the loss, and the logits."""
        if self.team is not None:
            return self._find_gradient_together(self.team, batch)
        loss, logits = self.model.loss(batch)
        value = float(loss.detach())
        if math.isfinite(value):
            (loss * len(batch.answer) if self.recipe.sum_loss else loss).backward()
        return value, logits

    def _find_gradient_together(
        self, team: Team, batch: Batch
    ) -> tuple[float, Float[Tensor, "n v"] | None]:
        """The same from a part of the batch, of which the other processes have the rest."""
        logits = None
        counted = int((batch.answer != NO_ANSWER).sum())
        sums = self.optimizer.gradient.new_tensor([0.0, counted, len(batch.answer)])
        if counted:
            loss, logits = self.model.loss(batch)
            (loss * counted).backward()
            sums[0] = loss.detach() * counted
        team.add_up(self.optimizer.gradient, sums)
        self.optimizer.gradient.mul_((sums[2] if self.recipe.sum_loss else 1) / sums[1])
        return float(sums[0] / sums[1]), logits

    @property
    def _regularizes(self) -> bool:
        """Whether there is dropout and there are random names yet."""
        now = self.progress
        decay_start = self.schedule.decay_start(now.attempt_decay_start)
        return not self.recipe.regularize_in_decay or now.attempt_step >= decay_start

    def _switch_dropout(self) -> None:
        for each in self._dropouts:
            each.train(self._regularizes)

    def _change_parameters(self) -> None:
        """Clip the gradient and follow it."""
        if self._random_names:
            self._random_names.keep()
        if self.recipe.clip_value is not None:
            self.optimizer.clip_value(self.recipe.clip_value)
        if self.recipe.clip_norm is not None:
            self.optimizer.clip_norm(self.recipe.clip_norm)
        if self.recipe.clip_norm_each is not None:
            self.optimizer.clip_norm_each(self.recipe.clip_norm_each)
        self.optimizer.step(self.learning_rate)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        now = self.progress
        return self.schedule.learning_rate(
            now.attempt_step,
            started=now.attempt_decay_start,
            attempt=now.attempt,
            halved=now.lr_halved_at is not None,
        )

    @property
    def _remaining(self) -> float:
        """What is left of the learning rate as it decays."""
        return min(1.0, self.learning_rate / self.recipe.learning_rate)

    def _names(self, batch: Batch) -> AbstractContextManager[Batch]:
        """The batch as it is read: with the names of its people, or with random ones.

        These come less often as the learning rate decays, so that in the end the model is as good
        with the names that it knows as one that never met another.
        """
        share = self.recipe.random_name_share * self._remaining
        if self._random_names and self._regularizes and torch.rand(()) < share:
            answers = self.train.answer[self._chosen_questions()]
            return self._random_names.met(batch, torch.from_numpy(answers))
        return nullcontext(batch)

    def _count_mistakes(self, batch: Batch, logits: Float[Tensor, "n v"] | None) -> None:
        now, names = self.progress, self.train.task_names
        found = torch.zeros(2, len(names))
        if logits is not None:
            wrong = logits.argmax(dim=1) != batch.answer
            for counts, tasks in zip(found, (batch.task, batch.task[wrong]), strict=True):
                counts += torch.bincount(tasks.cpu(), minlength=len(names))
        if self.team is not None:
            self.team.add_up(found)
        for counts, all_counts in zip(found, (now.train_asked, now.train_wrong), strict=True):
            for task, count in zip(names, map(int, counts.tolist()), strict=True):
                if count:
                    all_counts[task] = all_counts.get(task, 0) + count

    def _chosen_questions(self) -> Int[np.ndarray, " n"]:
        """The questions of the next batch."""
        epoch, position = divmod(self.progress.step, self.steps_per_epoch)
        if self._chosen is None or self._chosen[0] != epoch:
            self._chosen = (epoch, self._batches_of(epoch))
        return self._chosen[1][position]

    def _batch(self) -> Batch:
        """The next batch; of several processes, the part of this one."""
        chosen, groups, team = self._chosen_questions(), self.model.story_groups(), self.team
        words = self._words()
        if team is None:
            return make_batch(self.train, chosen, groups, words).to(self.device)
        return make_part(self.train, chosen, groups, words, team.rank, team.size).to(self.device)

    def _words(self) -> Words | None:
        """The words of the next batch, drawn anew from seed and step; None: those of the files."""
        if not self.recipe.rename_share or self.renaming is None:
            return None
        random = np.random.default_rng((self.seed, self.progress.step, RENAMING))
        if random.random() >= self.recipe.rename_share * self._remaining:
            return None
        return self.renaming.draw(random)

    def _batches_of(self, epoch: int) -> list[Int[np.ndarray, " _"]]:
        """The questions of each batch of an epoch."""
        size, pool = self.recipe.batch_size, self.recipe.bucket_batches
        if self.recipe.batch_stories is not None:
            return story_batches(self.train, self.seed, epoch, self.recipe.batch_stories)
        if pool is not None:
            return bucketed_batches(
                self.train, self.seed, epoch, batch_size=size, pool=pool, shares=self._shares()
            )
        order = epoch_order(self.train, self.seed, epoch, self._shares())
        return np.split(order, range(size, len(order), size))

    def _shares(self) -> dict[str, float] | None:
        """How much of an epoch each task gets; None: as much as it has questions."""
        if not self.recipe.error_weighted_share:
            return None
        errors = self.progress.train_errors
        return task_shares(self.train, errors, self.recipe.error_weighted_share)

    def _evaluate(self) -> Iterator[Event]:
        """Score the model; the state is brought up to date before the first event."""
        now = self.progress
        if self.team is not None:  # what the others have differs by rounding, if at all
            self.team.copy(self.model.state_dict().values())
        valid = score(self.model, self.valid, self.device, self.team)
        best = self.policy.is_best(now, valid)
        epoch = now.step // self.steps_per_epoch
        train_loss = now.loss_sum / (now.step - now.last_evaluation)
        events: list[Event] = [
            Evaluated(now.step, epoch, self.learning_rate, train_loss, valid, best)
        ]
        self._note(valid, best)
        if now.lr_halved_at is None and valid.loss < (self.recipe.halve_lr_below_loss or 0.0):
            now.lr_halved_at = now.step
            events.append(LearningRateHalved(now.step))
        if self.policy.starts_decay(now, valid):
            now.decay_start = now.step
        decision = self.policy.decide(now)
        if isinstance(decision, StartAnew):
            events.append(self._start_attempt(decision.reason))
        elif isinstance(decision, Stop):
            events.append(self._stop(decision.reason))
        yield from events

    def _note(self, valid: Scores, best: bool) -> None:
        """Take an evaluation into the progress, and the model as the best if it is."""
        now = self.progress
        now.last_evaluation, now.loss_sum = now.step, 0.0
        now.train_errors = {
            task: 100 * now.train_wrong.get(task, 0) / asked
            for task, asked in now.train_asked.items()
        }
        now.train_asked, now.train_wrong = {}, {}
        scores = (valid.error, valid.loss)
        if scores < now.attempt_best:
            now.attempt_best, now.last_improvement = scores, now.step
        if best:
            now.best, now.best_worst_task, now.best_step = scores, valid.worst, now.step
            self._best = self._copy_of_model()
        now.zero_error_evaluations = now.zero_error_evaluations + 1 if valid.error == 0 else 0

    def _copy_of_model(self) -> dict[str, Tensor]:
        return {name: tensor.clone() for name, tensor in self.model.state_dict().items()}

    def _start_attempt(self, reason: str) -> Event:
        now, seed = self.progress, self._next_seed()
        now.attempt += 1
        now.attempt_start = now.step
        now.lr_halved_at = now.decay_start = None
        now.attempt_best, now.last_improvement = (101.0, 0.0), now.step
        now.train_errors = {}
        self._initialise(seed)
        return Restarted(now.step, seed, reason)

    def _diverged(self, loss: float) -> Event:
        now, failed_at = self.progress, self.progress.step + 1
        decision = self.policy.decide_after_nan(now, loss)
        if isinstance(decision, Stop):
            return self._stop(decision.reason)
        now.step = now.last_evaluation = now.attempt_start
        now.loss_sum, now.train_asked, now.train_wrong, now.train_errors = 0.0, {}, {}, {}
        seed = self._next_seed()
        self._initialise(seed)
        return Restarted(failed_at, seed, decision.reason)

    def _stop(self, reason: str) -> Event:
        self.progress.stopped = reason
        return Stopped(self.progress.step, reason)

    def _next_seed(self) -> int:
        return self.seed + SEED_STRIDE * len(self.progress.seeds)
