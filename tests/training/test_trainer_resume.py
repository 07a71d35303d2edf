"""A trainer that is stopped and restored ends as if nothing had happened."""

import pytest
import torch

from tpr_rnn.data.encoding import encode
from tpr_rnn.training.events import Evaluated, Restarted
from tpr_rnn.training.progress import Progress
from tpr_rnn.training.trainer import Trainer
from training.trainers import (
    STORIES,
    VOCABULARY,
    WORDS,
    assert_same,
    make_trainer,
    make_trainer_like,
    scores,
)


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
