import hashlib
import json
from dataclasses import asdict, replace

import pytest

from tpr_rnn.errors import UserError
from tpr_rnn.training.preset import FROM_DATA, Preset
from tpr_rnn.training.presets import PRESETS, preset, preset_name
from tpr_rnn.training.recipe import Recipe

MEANINGS = {
    "paper-single": "d2c3dcf2",
    "paper-all": "1e7d4a05",
    "released-all": "2d592277",
    "single": "b0d4d82e",
    "all": "40cffb0b",
    "all-renamed": "d35f734f",
    "systematic": "07316e9f",
    "word-single": "878bcfc4",
    "word-all": "0d543bf8",
    "layer": "447a1d96",
    "bundled": "8f11558e",
    "lstm": "687fd0fd",
    "memn2n": "efb316d5",
    "memn2n-all": "5d56eadc",
    "memn2n-large": "689ef98a",
    "dmn": "842558ec",
    "entnet": "3fd6d116",
    "entnet-all": "4305d9ae",
    "word-lstm": "ac657124",
    "word-lstm-all": "31554103",
    "dnc-all": "644d9eb9",
    "dnc-small-all": "6a61cda1",
    "dnc-small-bypass-all": "196e74d7",
    "sdnc-all": "d7491420",
}
"""By preset, a checksum of all that it changes: records and documents know runs by its name."""


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
def test_a_name_does_not_come_to_mean_something_else_by_accident(name) -> None:
    settings, usual = preset(name).as_json(), asdict(Recipe())
    recipe = {key: value for key, value in settings["recipe"].items() if value != usual[key]}
    changed = json.dumps([settings["architecture"], settings["model"], recipe], sort_keys=True)
    found = hashlib.sha256(changed.encode()).hexdigest()[:8]
    assert found == MEANINGS.get(name), f"if this is meant, say so in the changelog; now {found}"


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


def test_all_settings_are_those_of_model_and_training_but_for_what_the_data_say() -> None:
    given = preset("single")
    settings = given.all_settings()
    model = asdict(given.config()).keys() - set(FROM_DATA)
    assert settings.keys() == {"architecture"} | model | asdict(Recipe()).keys()
    assert (settings["bounded_keys"], settings["epochs"]) == (True, 720)


def test_default_is_ours_that_fits_the_task() -> None:
    assert preset_name("default", "7") == "single"
    assert preset_name("default", "all") == "all"
    assert preset_name("default", "all+wide") == "bundled"
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
