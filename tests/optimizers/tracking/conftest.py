"""A store of MLflow's for each test."""

import pytest
from mlflow_stores import missing, store


@pytest.fixture
def uri(tmp_path, monkeypatch):
    if reason := missing():
        pytest.skip(reason)
    monkeypatch.chdir(tmp_path)  # where MLflow puts the files of runs
    with store(tmp_path) as address:
        yield address
