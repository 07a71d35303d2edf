"""The paper's protocol, step by step."""

import math

import pytest
import torch

from tpr_rnn.data.encoding import build_vocabulary, encode, longest_sentence
from tpr_rnn.data.story import Question, Story
from tpr_rnn.errors import UserError
from tpr_rnn.evaluation.scoring import Scores, score
from tpr_rnn.models import TPRRNNConfig
from tpr_rnn.models import model as model_module
from tpr_rnn.models.memn2n import MemN2NConfig
from tpr_rnn.training import trainer as trainer_module
from tpr_rnn.training.events import Evaluated, LearningRateHalved, Restarted, Stepped, Stopped
from tpr_rnn.training.progress import Progress
from tpr_rnn.training.recipe import Recipe
from tpr_rnn.training.trainer import Trainer

PLACES = ("kitchen", "garden", "office", "hallway")
STORIES = [
    Story(
        (f"Mary went to the {place}.", f"John went to the {other}."),
        (Question("Where is Mary?", place, 2), Question("Where is John?", other, 2)),
    )
    for place in PLACES
    for other in PLACES
]
VOCABULARY = build_vocabulary(STORIES)
WORDS = longest_sentence(STORIES)
DATA = encode({"1": STORIES}, VOCABULARY, WORDS)


def make_trainer(seed: int = 0, **settings) -> Trainer:
    plain = {"batch_size": 8, "epochs": 3, "warmup_steps": 2, "beta1": 0.9, "beta2": 0.999}
    config = TPRRNNConfig(
        vocabulary_size=len(VOCABULARY),
        max_words=WORDS,
        bounded_keys=True,
        embedding_scale=0.1,
        sentence_dropout=0.05,
        hidden_dropout=0.05,
    )
    return Trainer(config, Recipe(**plain | settings), train=DATA, valid=DATA, seed=seed)


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    """The same tensors, bit for bit."""
    assert one.keys() == other.keys()
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_one_evaluation_an_epoch_and_every_step_is_told() -> None:
    trainer = make_trainer()
    events = list(trainer.run())
    assert trainer.steps == 12
    assert [event.step for event in events if isinstance(event, Stepped)] == list(range(1, 13))
    assert [event.step for event in events if isinstance(event, Evaluated)] == [4, 8, 12]
    assert trainer.ended


def test_it_learns() -> None:
    trainer = make_trainer(epochs=60, learning_rate=0.01)
    list(trainer.run())
    trainer.use_best()
    assert score(trainer.model, DATA).error == 0


def test_a_seed_repeats_bit_for_bit_and_another_differs() -> None:
    one, same, other = (make_trainer(seed) for seed in (3, 3, 4))
    for trainer in (one, same, other):
        list(trainer.run())
    assert torch.equal(one.optimizer.theta, same.optimizer.theta)
    assert not torch.equal(one.optimizer.theta, other.optimizer.theta)


def test_a_run_with_bucketed_batches_resumes_to_the_same_end() -> None:
    settings = {"bucket_batches": 2, "error_weighted_share": 0.5, "learning_rate": 0.01}
    whole = make_trainer(**settings)
    list(whole.run())
    first, second = make_trainer(**settings), make_trainer(**settings)
    for event in first.run():
        if event.step == 6:
            break
    second.restore(first.progress, {name: x.clone() for name, x in first.tensors().items()})
    list(second.run())
    assert_same(second.tensors(), whole.tensors())


def test_the_rate_is_a_tenth_in_the_warm_up(monkeypatch) -> None:
    trainer = make_trainer(learning_rate=0.5, warmup_steps=5)
    rates = []
    monkeypatch.setattr(trainer.optimizer, "step", rates.append)
    list(trainer.run())
    assert rates == [0.05] * 5 + [0.5] * 7


def scores_in_turn(monkeypatch, *losses_and_errors: tuple[float, float]) -> None:
    turn = iter(losses_and_errors)

    def fake(model, data, device, team):
        loss, error = next(turn)
        return Scores(loss, {"1": error}, {"1": 1})

    monkeypatch.setattr(trainer_module, "score", fake)


def test_the_rate_is_halved_once_when_the_validation_loss_is_low(monkeypatch) -> None:
    scores_in_turn(monkeypatch, (0.5, 9.0), (0.09, 8.0), (0.2, 8.0), (0.05, 8.0))
    trainer = make_trainer(epochs=4, learning_rate=0.5, warmup_steps=0, halve_lr_below_loss=0.1)
    rates = []
    monkeypatch.setattr(trainer.optimizer, "step", rates.append)
    events = list(trainer.run())
    assert rates == [0.5] * 8 + [0.25] * 8
    assert [event.step for event in events if isinstance(event, LearningRateHalved)] == [8]


def test_the_best_is_the_least_error_then_the_least_loss(monkeypatch) -> None:
    scores_in_turn(monkeypatch, (0.5, 9.0), (0.4, 8.0), (0.3, 8.0), (0.1, 8.5), (0.3, 8.0))
    trainer = make_trainer(epochs=5)
    weights, best = [], []
    for event in trainer.run():
        if isinstance(event, Evaluated):
            weights.append(trainer.optimizer.theta.clone())
            best.append(event.best)
    assert best == [True, True, True, False, False]
    trainer.use_best()
    assert torch.equal(trainer.optimizer.theta, weights[2])
    assert trainer.progress.best_step == 12


def test_training_ends_early_when_nothing_is_wrong_any_more(monkeypatch) -> None:
    perfect = (0.1, 0.0)
    scores_in_turn(monkeypatch, perfect, (0.2, 1.0), perfect, perfect, perfect)
    trainer = make_trainer(epochs=9, stop_after_zero_error=2)
    *_, last = trainer.run()
    assert isinstance(last, Stopped)
    assert last.step == 16
    assert "no validation error in 2 evaluations" in last.reason


def test_it_stops_when_no_better_model_comes(monkeypatch) -> None:
    scores_in_turn(monkeypatch, *((1.0, error) for error in (50.0, 40.0, 45.0, 40.0, 41.0)))
    trainer = make_trainer(epochs=9, patience=3)
    *_, last = trainer.run()
    assert last == Stopped(20, "no better model in 3 evaluations in a row")
    assert trainer.ended
    assert trainer.progress.best_step == 8


def test_a_new_attempt_has_the_whole_patience(monkeypatch) -> None:
    scores_in_turn(monkeypatch, *((1.0, error) for error in (40.0, 50.0, 60.0, 50.0, 45.0)))
    trainer = make_trainer(epochs=3, attempts=2, start_decay_below=5.0, decay_epochs=1, patience=3)
    list(trainer.run())
    assert trainer.progress.attempt == 2
    assert (trainer.progress.step, trainer.progress.stopped) == (20, None)


def test_patience_waits_for_the_task_to_be_learned(monkeypatch) -> None:
    plateau = [(1.0, 50.0)] * 4
    scores_in_turn(monkeypatch, *plateau, *((1.0, error) for error in (19.0, 2.0, 3.0, 3.0)))
    trainer = make_trainer(epochs=18, start_decay_below=20.0, decay_epochs=9, patience=2)
    *_, last = trainer.run()
    assert last == Stopped(32, "no better model in 2 evaluations in a row")


def test_an_attempt_that_gets_no_better_and_is_not_good_enough_is_given_up(monkeypatch) -> None:
    errors = (19.0, 9.0, 9.5, 9.5, 19.0, 4.0, 5.0, 5.0)
    scores_in_turn(monkeypatch, *((1.0, error) for error in errors))
    trainer = make_trainer(
        epochs=18, attempts=2, start_decay_below=20.0, accept_below=5.0, decay_epochs=9, patience=2
    )
    events = list(trainer.run())
    restarts = [event for event in events if isinstance(event, Restarted)]
    assert [(event.step, event.reason) for event in restarts] == [
        (16, "still at 9.0 % after 4 epochs")
    ]
    assert events[-1] == Stopped(32, "no better model in 2 evaluations in a row")


def test_an_attempt_is_measured_by_itself_alone(monkeypatch) -> None:
    # The second attempt is never as good as the first, but it gets better all the time.
    errors = (19.0, 5.5, 5.6, 5.7, 19.0, 12.0, 9.0, 8.0, 7.0, 6.0, 6.0, 6.0)
    scores_in_turn(monkeypatch, *((1.0, error) for error in errors))
    trainer = make_trainer(
        epochs=18, attempts=2, start_decay_below=20.0, accept_below=5.0, decay_epochs=9, patience=2
    )
    *_, last = trainer.run()
    assert last == Stopped(48, "no better model in 2 evaluations in a row")
    assert trainer.progress.best == (5.5, 1.0)


def test_a_model_that_leaves_no_task_behind_is_preferred(monkeypatch) -> None:
    two = [({"1": 0.0, "2": 6.0}, 1.0), ({"1": 4.0, "2": 4.0}, 1.0), ({"1": 0.0, "2": 5.0}, 1.0)]
    evaluations = iter(Scores(loss, errors, {"1": 1, "2": 1}) for errors, loss in two)
    monkeypatch.setattr(trainer_module, "score", lambda *_: next(evaluations))
    trainer = make_trainer(epochs=5, start_decay_below=20.0, accept_below=5.0, decay_epochs=2)
    best = [event.best for event in trainer.run() if isinstance(event, Evaluated)]
    assert best == [True, True, False]
    assert (trainer.progress.best, trainer.progress.best_worst_task) == ((4.0, 1.0), 4.0)


def test_what_is_not_learned_is_practised_most(monkeypatch) -> None:
    two = encode({"1": STORIES, "2": STORIES}, VOCABULARY, WORDS)
    practised: list[list[int]] = []
    real = trainer_module.make_batch

    def noted(*arguments):
        batch = real(*arguments)
        practised.append(batch.task.tolist())
        return batch

    monkeypatch.setattr(trainer_module, "make_batch", noted)

    def make() -> Trainer:
        trainer = make_trainer(epochs=2, error_weighted_share=0.5, batch_size=16)
        return Trainer(trainer.config, trainer.recipe, train=two, valid=two, seed=0)

    def answer(batch, logits):  # all of task 1 is right, and half of task 2 is wrong
        trainer.progress.train_asked = {"1": 32, "2": 32}
        trainer.progress.train_wrong = {"2": 16}

    trainer = make()
    monkeypatch.setattr(trainer, "_count_mistakes", answer)
    list(trainer.run())
    epochs = (practised[:4], practised[4:])
    assert [sum(batch.count(1) for batch in epoch) for epoch in epochs] == [32, 48]


def test_mistakes_in_training_are_counted_by_task_and_survive_a_stop() -> None:
    def make() -> Trainer:
        trainer = make_trainer(error_weighted_share=0.5)
        two = encode({"1": STORIES, "2": STORIES}, VOCABULARY, WORDS)
        return Trainer(trainer.config, trainer.recipe, train=two, valid=two, seed=0)

    trainer = make()
    batch = trainer._batch()
    logits = trainer.model.eval()(batch).detach()
    trainer._count_mistakes(batch, logits)
    wrong = [
        task
        for task, word, answer in zip(
            batch.task.tolist(), logits.argmax(1).tolist(), batch.answer.tolist(), strict=True
        )
        if word != answer
    ]
    asked = batch.task.tolist()
    assert trainer.progress.train_asked == {"1": asked.count(0), "2": asked.count(1)}
    assert trainer.progress.train_wrong == {"12"[task]: wrong.count(task) for task in set(wrong)}

    trainer, undisturbed = make(), make()
    for _, _ in zip(range(11), trainer.run(), strict=False):  # 8 steps, an evaluation, 2 steps
        pass
    resumed = make()
    resumed.restore(trainer.progress, trainer.tensors())
    list(undisturbed.run())
    list(resumed.run())
    assert resumed.progress.train_errors == undisturbed.progress.train_errors
    assert torch.equal(resumed.optimizer.theta, undisturbed.optimizer.theta)


def nan_at(monkeypatch, *calls: int) -> None:
    """Let the loss be NaN at these calls, counted from 1."""
    count = 0
    real = model_module.cross_entropy

    def sometimes(*arguments, **settings):
        nonlocal count
        count += 1
        return real(*arguments, **settings) * (math.nan if count in calls else 1.0)

    monkeypatch.setattr(model_module, "cross_entropy", sometimes)


def test_nan_in_the_warm_up_starts_anew_with_another_recorded_seed(monkeypatch) -> None:
    nan_at(monkeypatch, 2, 3)
    trainer = make_trainer(seed=5, warmup_steps=3)
    events = list(trainer.run())
    restarts = [event for event in events if isinstance(event, Restarted)]
    assert [event.step for event in restarts] == [2, 1]
    assert trainer.progress.seeds == [5, *(event.seed for event in restarts)]
    assert len(set(trainer.progress.seeds)) == 3
    assert trainer.progress.step == 12


def scores(monkeypatch, *errors: float) -> None:
    """Let the evaluations give these errors, one after the other."""
    left = list(errors)
    monkeypatch.setattr(
        trainer_module,
        "score",
        lambda *_: Scores(errors={"1": left[0]}, loss=left.pop(0), asked={"1": 1}),
    )


def test_a_task_that_is_not_learned_is_tried_again_from_another_seed(monkeypatch) -> None:
    scores(monkeypatch, 60.0, 50.0, 55.0, 40.0, 2.0, 1.0)
    trainer = make_trainer(epochs=3, attempts=4, start_decay_below=5.0, decay_epochs=1)
    assert trainer.steps == 4 * 8 + 4
    events = list(trainer.run())
    restarts = [event for event in events if isinstance(event, Restarted)]
    assert [event.step for event in restarts] == [8, 16]
    assert all("not learned in 2 epochs" in event.reason for event in restarts)
    assert trainer.progress.seeds == [0, *(event.seed for event in restarts)]
    # The third attempt learned the task in its first epoch; the rate falls, and that is all.
    assert trainer.progress.step == trainer.steps == 24
    assert trainer.progress.best == (1.0, 1.0)
    rates = [event.learning_rate for event in events if isinstance(event, Evaluated)]
    assert len(set(rates[:5])) == 1
    assert rates[5] == 0


def test_several_tasks_are_learned_when_the_worst_is(monkeypatch) -> None:
    errors = iter(
        [{"1": 0.0, "2": 6.0}, {"1": 5.0, "2": 4.0}, {"1": 4.0, "2": 4.0}, {"1": 0.0, "2": 2.0}]
    )
    monkeypatch.setattr(
        trainer_module, "score", lambda *_: Scores(loss=1.0, errors=next(errors), asked={})
    )
    trainer = make_trainer(epochs=10, attempts=2, start_decay_below=5.0, decay_epochs=1)
    list(trainer.run())
    assert trainer.progress.decay_start == 12
    assert (trainer.progress.best, trainer.progress.best_worst_task) == ((1.0, 1.0), 2.0)


def hopeful_trainer() -> Trainer:
    return make_trainer(
        epochs=4, attempts=4, start_decay_below=5.0, decay_anyway_below=20.0, decay_epochs=2
    )


def test_an_attempt_that_is_nearly_there_is_not_given_up(monkeypatch) -> None:
    scores(monkeypatch, 50.0, 50.0, 50.0, 19.0, 15.0, 4.0)
    trainer = hopeful_trainer()
    events = list(trainer.run())
    assert [event.step for event in events if isinstance(event, Restarted)] == [8]
    # The second attempt is at 19 % after its two epochs: the rate falls in the two that follow.
    assert trainer.ended
    assert trainer.progress.step == 24
    assert trainer.learning_rate == 0


def test_an_attempt_that_only_seemed_nearly_there_is_given_up_in_the_end(monkeypatch) -> None:
    scores(monkeypatch, 50.0, 19.0, 18.0, 17.0, 4.0, 3.0, 2.0)
    trainer = hopeful_trainer()
    restarts = [event for event in trainer.run() if isinstance(event, Restarted)]
    assert [(event.step, event.reason) for event in restarts] == [
        (16, "still at 17.0 % after 4 epochs")
    ]
    # The second attempt learns the task in its first epoch.
    assert trainer.progress.step == 16 + 12
    assert trainer.progress.best == (2.0, 2.0)


def test_an_attempt_that_is_learned_may_not_be_good_enough(monkeypatch) -> None:
    scores(monkeypatch, 50.0, 19.0, 6.0, 15.0, 4.0)
    trainer = make_trainer(
        epochs=10, attempts=4, start_decay_below=20.0, accept_below=5.0, decay_epochs=1
    )
    restarts = [event for event in trainer.run() if isinstance(event, Restarted)]
    assert [(event.step, event.reason) for event in restarts] == [
        (12, "still at 6.0 % after 3 epochs")
    ]
    assert (trainer.progress.step, trainer.progress.best) == (20, (4.0, 4.0))


def test_the_rate_of_the_last_attempt_falls_also_in_vain(monkeypatch) -> None:
    scores(monkeypatch, 60.0, 50.0, 40.0)
    trainer = make_trainer(epochs=2, attempts=2, start_decay_below=5.0, decay_epochs=1)
    *_, last = trainer.run()
    assert (last.step, last.learning_rate) == (12, 0)
    assert trainer.ended


def test_a_learned_task_ends_with_the_fall_of_the_rate(monkeypatch) -> None:
    scores(monkeypatch, 60.0, 4.0, 3.0, 3.0)
    trainer = make_trainer(epochs=11, start_decay_below=5.0, decay_epochs=2)
    list(trainer.run())
    assert trainer.ended
    assert trainer.progress.step == trainer.steps == 16


def test_it_gives_up_after_ten_restarts(monkeypatch) -> None:
    nan_at(monkeypatch, *range(1, 12))
    with pytest.raises(UserError, match=r"became nan at the start 11 times.*smaller learning_rate"):
        list(make_trainer().run())


def test_nan_later_ends_the_run_at_its_best(monkeypatch) -> None:
    nan_at(monkeypatch, 7)
    trainer = make_trainer()
    *_, last = trainer.run()
    assert last == Stopped(6, "the loss became nan at step 7")
    assert trainer.progress.best_step == 4
    trainer.use_best()
    assert torch.isfinite(trainer.optimizer.theta).all()


@pytest.mark.parametrize("stop", [1, 3, 4, 5, 9, 14])
def test_a_restored_trainer_goes_on_as_if_nothing_had_happened(stop) -> None:
    whole = make_trainer()
    expected = [event for event in whole.run() if isinstance(event, Evaluated)]
    first = make_trainer()
    events = first.run()
    seen = [next(events) for _ in range(stop)]
    tensors = {name: tensor.clone() for name, tensor in first.tensors().items()}
    second = make_trainer()
    second.restore(first.progress, tensors)
    seen += list(second.run())
    assert [event for event in seen if isinstance(event, Evaluated)] == expected
    assert torch.equal(second.optimizer.theta, whole.optimizer.theta)
    assert_same(second._best, whole._best)


@pytest.mark.parametrize("optimizer", ["nadam", "adam", "rmsprop", "sgd"])
def test_a_second_attempt_resumes_bit_for_bit(monkeypatch, optimizer) -> None:
    def make() -> Trainer:
        scores(monkeypatch, 60.0, 50.0, 55.0, 4.0, 3.0, 2.0)
        return make_trainer(
            epochs=4,
            attempts=2,
            start_decay_below=5.0,
            decay_epochs=2,
            peak_learning_rate=0.05,
            learning_rate=0.01,
            optimizer=optimizer,
        )

    whole = make()
    expected = list(whole.run())
    restarted = next(i for i, event in enumerate(expected) if isinstance(event, Restarted))
    first = make()
    events = first.run()
    seen = [next(events) for _ in range(restarted + 3)]
    assert (first.progress.attempt, first.progress.attempt_step) == (2, 2)
    tensors = {name: tensor.clone() for name, tensor in first.tensors().items()}
    second = make_trainer_like(first)
    second.restore(first.progress, tensors)
    assert second.optimizer.steps == 2
    seen += list(second.run())
    assert seen == expected
    assert_same(second.tensors(), whole.tensors())


def test_dropout_may_wait_for_the_decay(monkeypatch) -> None:
    def weights(steps: int, *, dropout: bool, **settings) -> torch.Tensor:
        scores(monkeypatch, 60.0, 4.0, 3.0)  # the decay starts after two epochs of four steps
        trainer = make_trainer(epochs=4, start_decay_below=5.0, decay_epochs=1, **settings)
        for module in trainer._dropouts:
            module.p = module.p if dropout else 0.0
        events = trainer.run()
        while trainer.progress.step < steps:
            next(events)
        return trainer.optimizer.theta

    def equal(steps: int, **settings) -> bool:
        one, other = (weights(steps, dropout=dropout, **settings) for dropout in (True, False))
        return torch.equal(one, other)

    assert equal(8, regularize_in_decay=True)
    assert not equal(9, regularize_in_decay=True)
    assert not equal(1)


def make_trainer_like(trainer: Trainer) -> Trainer:
    return Trainer(trainer.config, trainer.recipe, train=DATA, valid=DATA, seed=trainer.seed)


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    trainer = make_trainer()
    before = {name: tensor.clone() for name, tensor in trainer.tensors().items()}
    other = {name: tensor + 1 for name, tensor in before.items()}
    *_, last = other
    for wrong in (
        {name: tensor for name, tensor in other.items() if name != last},
        other | {last: other[last][:-1]},
        other | {last: other[last].double()},
    ):
        with pytest.raises((KeyError, ValueError), match=last):
            trainer.restore(Progress(step=7), wrong)
        assert_same(trainer.tensors(), before)
        assert trainer.progress.step == 0


def test_training_leaves_the_random_numbers_of_others_alone(monkeypatch) -> None:
    """Of the CPU and of the device in use; to ask every GPU of a machine is slow, and warned of."""
    asked = []
    real = torch.random.fork_rng

    def noted(devices=None, **settings):
        asked.append(devices)
        return real(devices=devices, **settings)

    monkeypatch.setattr(torch.random, "fork_rng", noted)
    torch.manual_seed(8)
    expected = torch.rand(3)
    torch.manual_seed(8)
    list(make_trainer(epochs=1).run())
    assert torch.equal(torch.rand(3), expected)
    assert asked == [[]] * (1 + 4)  # to make the model, and for each step
    gpu = torch.device("cuda", 1)
    asked.clear()
    trainer_module._forked_rng(gpu)
    assert asked == [[gpu]]


def test_the_gradient_is_clipped_as_the_recipe_says(monkeypatch) -> None:
    def lengths(**settings) -> list[float]:
        trainer = make_trainer(epochs=1, **settings)
        found = []
        monkeypatch.setattr(
            trainer.optimizer,
            "step",
            lambda _: found.append(
                (trainer.optimizer.gradient.norm().item(), trainer.optimizer.gradient.abs().max())
            ),
        )
        list(trainer.run())
        return found

    free = lengths(clip_norm=None)
    assert all(norm > 1e-3 and largest > 1e-4 for norm, largest in free)
    assert all(norm == pytest.approx(1e-3) for norm, _ in lengths(clip_norm=1e-3))
    each = lengths(clip_norm=None, clip_norm_each=1e-4)
    assert all(1.1e-4 < norm < 1e-3 for norm, _ in each)
    by_value = lengths(clip_norm=None, clip_value=1e-4)
    assert all(largest == pytest.approx(1e-4) for _, largest in by_value)
    assert all(norm > 2e-4 for norm, _ in by_value)


def test_the_gradient_of_a_sum_is_that_of_the_mean_times_the_questions() -> None:
    summed, mean = (make_trainer(sum_loss=loss, clip_norm=None) for loss in (True, False))
    for trainer in (summed, mean):
        trainer._step()
    torch.testing.assert_close(summed.optimizer.gradient, 8 * mean.optimizer.gradient)
    assert summed.progress.loss_sum == mean.progress.loss_sum


def memn2n_trainer(**settings) -> Trainer:
    config = MemN2NConfig(vocabulary_size=len(VOCABULARY), max_words=WORDS, embedding_size=4)
    recipe = Recipe(batch_size=8, epochs=3, optimizer="sgd", **settings)
    return Trainer(config, recipe, train=DATA, valid=DATA, seed=0)


def test_a_linear_start_leaves_the_softmax_out_for_its_epochs_resumed_or_not() -> None:
    whole = memn2n_trainer(linear_start_epochs=2)
    linear = []
    for event in whole.run():
        if isinstance(event, Stepped):
            linear.append(bool(whole.model.linear))
    assert linear == [True] * 8 + [False] * 4
    for stop in (5, 8, 9):
        first, second = (memn2n_trainer(linear_start_epochs=2) for _ in range(2))
        for event in first.run():
            if event.step == stop:
                break
        second.restore(first.progress, {name: x.clone() for name, x in first.tensors().items()})
        list(second.run())
        assert_same(second.tensors(), whole.tensors())


def test_the_best_model_of_the_linear_start_stays_linear(monkeypatch) -> None:
    scores_in_turn(monkeypatch, (0.5, 1.0), (0.5, 9.0), (0.5, 9.0))
    trainer = memn2n_trainer(linear_start_epochs=1)
    list(trainer.run())
    assert not trainer.model.linear
    trainer.use_best()
    assert trainer.model.linear


def test_a_linear_start_needs_a_model_that_can_be_linear() -> None:
    with pytest.raises(UserError, match="which TPRRNN cannot; leave linear_start_epochs out"):
        make_trainer(linear_start_epochs=1)
