import json
from dataclasses import replace

import pytest

from tpr_rnn.errors import UserError
from tpr_rnn.training.preset import Preset
from tpr_rnn.training.presets import PRESETS, preset, preset_name


def test_the_paper_presets_are_the_paper() -> None:
    single = preset("paper-single")
    assert (single.recipe.learning_rate, single.recipe.beta1, single.recipe.beta2) == (
        0.008,
        0.6,
        0.4,
    )
    assert single.recipe.batch_size == 128
    assert not single.model
    joint = preset("paper-all")
    assert joint.model == {"hidden_size": 90, "entity_size": 40, "relation_size": 20}
    assert (joint.recipe.learning_rate, joint.recipe.beta1, joint.recipe.beta2) == (
        0.001,
        0.9,
        0.999,
    )
    assert joint.recipe.batch_size == 32
    for each in (single, joint):
        assert (each.recipe.warmup_steps, each.recipe.halve_lr_below_loss) == (50, 0.1)


@pytest.mark.parametrize("name", PRESETS)
def test_settings_survive_json(name) -> None:
    settings = preset(name)
    assert Preset.from_json(json.loads(json.dumps(settings.as_json()))) == settings


def test_settings_of_model_and_recipe_are_changed_by_name() -> None:
    changed = preset("single").with_settings(
        {
            "learning_rate": "0.01",
            "epochs": "3",
            "halve_lr_below_loss": "none",
            "entity_size": "7",
            "layer_norm": "false",
            "operations": "write, backlink",
        }
    )
    assert (changed.recipe.learning_rate, changed.recipe.epochs) == (0.01, 3)
    assert changed.recipe.halve_lr_below_loss is None
    assert changed.model["entity_size"] == 7
    assert changed.model["layer_norm"] is False
    assert changed.model["operations"] == ["write", "backlink"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning-rate": "1"}, "did you mean learning_rate"),
        ({"zzz": "1"}, "unknown setting 'zzz'; there are"),
        ({"vocabulary_size": "1"}, "unknown setting"),
        ({"epochs": "many"}, "epochs is a whole number"),
        ({"learning_rate": "fast"}, "learning_rate is a number"),
        ({"layer_norm": "perhaps"}, "true or false"),
        ({"epochs": "0"}, "epochs must be 1 or more"),
        ({"learning_rate": "-1"}, "learning_rate must be over 0"),
        ({"learning_rate": "nan"}, "learning_rate must be a finite number"),
        ({"beta1": "1"}, "beta1 must be at least 0 and under 1"),
        ({"decay_epochs": "-1"}, "decay_epochs must be 0 or more"),
        ({"peak_learning_rate": "0.0001"}, "peak_learning_rate must be at least learning_rate"),
        ({"attempts": "0"}, "attempts must be 1 or more"),
        ({"attempts": "2", "start_decay_below": "none"}, "need start_decay_below"),
        ({"warmup_steps": "-1"}, "warmup_steps"),
        ({"stop_after_zero_error": "0"}, "stop_after_zero_error"),
    ],
)
def test_senseless_settings_are_refused(changes, message) -> None:
    with pytest.raises(UserError, match=message):
        preset("single").with_settings(changes)


def test_default_is_ours_that_fits_the_task() -> None:
    assert preset_name("default", "7") == "single"
    assert preset_name("default", "all") == "all"
    assert preset_name("paper-single", "all") == "paper-single"


def test_unknown_presets_are_refused() -> None:
    with pytest.raises(UserError, match="unknown preset 'best'; there are paper-single"):
        preset("best")


@pytest.mark.parametrize(
    ("caps", "expected"),
    [((70, 130), None), ((70, 70), 70), ((320, 320), 320)],
)
def test_settings_of_before_with_a_cap_for_one_task_are_read(caps, expected) -> None:
    usual, one_task = caps
    settings = preset("single").as_json()
    settings["recipe"] |= {"max_sentences": usual, "story_cap_task_3": one_task}
    assert Preset.from_json(settings).recipe == replace(
        preset("single").recipe, max_sentences=expected
    )
    settings["recipe"]["max_sentences"] = 5
    with pytest.raises(UserError, match=f"max_sentences 5 with story_cap_task_3 {one_task}"):
        Preset.from_json(settings)
