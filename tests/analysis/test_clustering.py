"""Clusters of vectors whose clusters are known."""

import sys

import numpy as np
import pytest

from tpr_rnn.analysis.clustering import agreement, cluster, orthogonality
from tpr_rnn.errors import UserError
from tpr_rnn.pictures import pyplot

# Two directions at right angles with three vectors each, and one opposite to the first.
ANGLES = np.radians([0, 90, 10, 100, 20, 80, 190])
VECTORS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1) * np.arange(1, 8)[:, None]


def test_vectors_of_one_direction_form_a_cluster_whatever_their_length() -> None:
    found = cluster(VECTORS)
    groups = {frozenset(np.flatnonzero(found.label == label).tolist()) for label in range(3)}
    assert groups == {frozenset({0, 2, 4}), frozenset({1, 3, 5}), frozenset({6})}
    along = found.label[found.order].tolist()
    assert along == sorted(along)
    assert sorted(found.order.tolist()) == list(range(7))
    assert found.similarity[0, 2] == pytest.approx(np.cos(np.radians(10)))
    assert found.similarity[2, 6] == pytest.approx(-1)


@pytest.mark.parametrize("count", [0, 1])
def test_few_vectors_are_no_problem(count) -> None:
    found = cluster(np.ones((count, 3)))
    assert found.label.tolist() == [0] * count
    assert found.similarity.shape == (count, count)


def test_agreement_is_that_of_the_texts_that_have_the_aspect() -> None:
    label = np.array([0, 0, 1, 1, 2])
    said = [
        {"actor": "mary", "event": "go", "place": "park"},
        {"actor": "mary", "event": "go", "place": "home"},
        {"actor": "john", "event": "go", "place": "park"},
        {"actor": "john", "event": "go", "place": "home"},
        {"event": "go"},
    ]
    found = agreement(label, said)
    assert set(found) == {"actor", "place"}  # the event is always the same
    assert found["actor"] == pytest.approx(1)
    assert found["place"] < 0.1


def test_orthogonality_by_hand() -> None:
    vectors = np.array([[1.0, 0], [3, 0], [0, 2], [1, 1]])
    label = np.array([0, 0, 1, 2])
    within, between = orthogonality(vectors, label)
    assert within == pytest.approx(1)
    assert between == pytest.approx((0 + 0.5**0.5 + 0.5**0.5) / 3)
    assert orthogonality(vectors[:2], label[:2]) == (pytest.approx(1), None)
    spread, _ = orthogonality(np.array([[1.0, 0], [0, 1]]), np.array([0, 0]))
    assert spread == pytest.approx(0.5**0.5)


@pytest.mark.parametrize(
    ("module", "work"),
    [
        ("scipy.cluster", lambda: cluster(VECTORS)),
        ("sklearn.metrics", lambda: agreement(np.array([0]), [])),
        ("matplotlib", lambda: pyplot("analysis")),
    ],
)
def test_a_library_that_is_not_there_comes_with_the_way_to_install_it(
    module, work, monkeypatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=r"pip install -e '\.\[analysis\]'"):
        work()
