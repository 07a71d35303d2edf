"""Settings of a recipe that make no sense."""

import pytest

from tpr_rnn.errors import UserError
from tpr_rnn.training.presets import preset
from tpr_rnn.training.recipe import Recipe


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimizer": "adagrad"}, "unknown optimizer 'adagrad'; there are nadam, adam, rmsprop"),
        ({"momentum": 0.9}, "momentum is for rmsprop and sgd; nadam has beta1"),
        ({"momentum": 1.0, "optimizer": "sgd"}, "momentum must be at least 0 and under 1"),
        ({"weight_decay": -0.1}, "weight_decay must be 0 or more"),
        ({"weight_decay": 0.1, "random_name_share": 0.5}, "leave one of the two out"),
        ({"clip_norm": 0.0}, "clip_norm must be over 0"),
        ({"clip_value": -1.0}, "clip_value must be over 0"),
        ({"clip_norm_each": 0.0}, "clip_norm_each must be over 0"),
        ({"halve_lr_every": 0}, "halve_lr_every must be 1 or more, or none"),
        ({"batch_stories": 0}, "batch_stories must be 1 or more, or none"),
        ({"batch_stories": 1, "bucket_batches": 4}, "batch_stories and bucket_batches exclude"),
        ({"batch_stories": 1, "error_weighted_share": 0.5}, "batch_stories and error_weighted"),
        ({"linear_start_epochs": -1}, "linear_start_epochs must be 0 or more"),
    ],
)
def test_senseless_settings_are_refused(settings, message) -> None:
    with pytest.raises(UserError, match=message):
        Recipe(**settings)


def test_an_optimizer_is_chosen_by_name() -> None:
    changes = {"optimizer": "rmsprop", "momentum": "0.5", "clip_norm": "none", "clip_value": "2"}
    recipe = preset("single").with_settings(changes).recipe
    assert (recipe.optimizer, recipe.momentum) == ("rmsprop", 0.5)
    assert (recipe.clip_norm, recipe.clip_value) == (None, 2.0)
