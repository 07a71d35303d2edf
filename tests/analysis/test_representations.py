"""The analysis of a model whose representations are known."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.handmade import GAIN, NAMES, PLACES, handmade_reader
from tpr_rnn.analysis.clustering import cluster
from tpr_rnn.analysis.faithfulness import measure_faithfulness
from tpr_rnn.analysis.figures import draw_matrices, draw_matrix
from tpr_rnn.analysis.representations import _sample, analyze
from tpr_rnn.data.story import Question, Story
from tpr_rnn.report.representations import representations_page, write_representations

TOLD = tuple(f"{name.title()} went to the {place}." for name in NAMES for place in PLACES)
STORIES = [
    Story(TOLD[:2], (Question("Where is Mary?", "garden", 2, (1,)),)),
    Story(TOLD, (Question("Where is John?", "office", 6, (5,)),)),
    Story(TOLD[3:4], ()),
    Story(TOLD[2:4], (Question("Where was John?", "garden", 2, (0,)),)),
]
ROOT = Path(__file__).parents[2]
PARTS = ("e1", "e2", "r1", "r2", "r3", "n", "l1", "l2", "l3")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def report(out):
    return analyze(handmade_reader(), {"1": STORIES}, out, sample=4, seed=0)


def test_what_a_representation_holds_is_measured(report) -> None:
    assert report["sentences"]["texts"] == report["sentences"]["understood"] == 6
    found = report["sentences"]["representations"]
    assert found["e1"]["clusters"] == 2
    assert found["e1"]["agreement"]["actor"] == pytest.approx(1)
    assert found["e1"]["agreement"]["place"] < 0.1
    assert found["e2"]["clusters"] == 3
    assert found["e2"]["agreement"]["place"] == pytest.approx(1)
    assert found["e1"]["cosine_within"] > 0.99
    assert found["e1"]["cosine_between"] < 0.05
    assert found["r1"] == {
        "clusters": 1,
        "cosine_within": pytest.approx(1),
        "cosine_between": None,
        "agreement": {"actor": 0, "place": 0},
    }
    assert report["questions"]["texts"] == 3
    assert report["questions"]["representations"]["n"]["clusters"] == 2


def test_names_and_explanations_are_judged_by_the_data(report) -> None:
    faithful = report["faithfulness"]
    assert faithful["questions"] == 3
    assert faithful["named"]["e1"] == faithful["named_rightly"]["e1"] == 1
    assert faithful["named"]["r1"] == 0
    assert "r1" not in faithful["named_rightly"]
    assert faithful["explanations"] == {
        "1": {
            "answers": 2,
            "precision": 1,
            "recall": 1,
            "missed": 1,
            "needed": 1,
            "enough": 1,
        }
    }
    assert faithful["explanations_mean"]["recall"] == 1


def test_a_name_that_lacks_the_decisive_word_is_wrong() -> None:
    reader = handmade_reader()
    went = reader.vocabulary.number("went")
    with torch.no_grad():  # a word that turns e1 more than the name does, but is never exchanged
        reader.model.update.entity_weight[0] /= 4
        reader.model.update.entity_weight[0, went, -1] = GAIN
    found = measure_faithfulness(reader, {"1": STORIES}, TOLD, seed=0)
    assert found["named"]["e1"] == 1
    assert found["named_rightly"]["e1"] == 0


def test_there_are_pictures_and_lists_of_everything(report, out) -> None:
    kinds = {f"{name}.{suffix}" for name in PARTS for suffix in ("png", "txt")}
    kinds |= {"sentences.png", "questions.png"}
    assert {path.name for path in out.iterdir()} >= kinds


def test_the_list_goes_by_clusters(report, out) -> None:
    groups = (out / "e1.txt").read_text().split("\n\n")
    assert len(groups) == 2
    for group in groups:
        assert len({line.split()[1] for line in group.splitlines()}) == 1
    listed = [line.split(": ")[1] for group in groups for line in group.splitlines()]
    assert len(listed) == 4
    assert set(listed) < set(TOLD)


def test_pictures_are_always_the_same(tmp_path) -> None:
    clusters = cluster(np.random.default_rng(0).normal(size=(5, 3)))
    for name in ("one", "two"):
        draw_matrix("e1", TOLD[:5], clusters, "caption", tmp_path / name)
        draw_matrices({"r1": clusters}, {"r1": "caption"}, "title", tmp_path / f"all-{name}")
    for path in tmp_path.glob("*one*"):
        assert path.read_bytes() == (tmp_path / path.name.replace("one", "two")).read_bytes()


def test_a_sample_is_random_and_ordered() -> None:
    assert _sample(4, 4, seed=0) == [0, 1, 2, 3]
    chosen = _sample(1000, 20, seed=0)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == 20
    assert chosen != _sample(1000, 20, seed=1)


def test_the_report_is_json_and_tables(report, tmp_path) -> None:
    report = {"tasks": ["1"], "data": "made up", "split": "valid", **report}
    write_representations(report, tmp_path)
    assert json.loads((tmp_path / "report.json").read_text()) == report
    text = (tmp_path / "report.md").read_text()
    assert text == representations_page(report)
    assert "Stories of task 1: made up, valid." in text
    assert "## 6 different sentences" in text
    assert "| e1 | 2 | 1.00 | " in text
    assert "| **1.00** |" in text
    assert "| r1 | 0% | - |" in text
    assert "| mean | - | 100% | 100% | 100% | 100% | 100% |" in text


@pytest.mark.parametrize(
    "path", sorted((ROOT / "results").rglob("report.json")), ids=lambda path: path.parent.name
)
def test_committed_pages_are_those_of_their_numbers(path) -> None:
    page = path.with_suffix(".md").read_text("utf-8")
    assert page == representations_page(json.loads(path.read_text("utf-8")))
