"""Where the runs of a test are, and where its report goes."""

import pytest


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "report"
