"""What is said where MLflow cannot be reached."""

import os
import sys

import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.tracking import connect
from aspectrag.programs.trace import Step, Trace
from mlflow_stores import store

TRACE = Trace([Step("program", "Rag", {"question": "Why?"}, {"answer": "So."}, 1.0, 0.5)])


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://user:password@127.0.0.1:9", "http://***@127.0.0.1:9"),
        ("nowhere://there", "nowhere://there"),
        ("localhost:5000", "localhost:5000"),
        ("sqlite:////dev/null/mlflow.db", "/dev/null"),
        ("sqlite:////", "is a folder, or lies in none that is there"),
        ("", "give its address"),
    ],
)
def test_an_address_that_nobody_answers_at_is_one_line(uri, address, said):
    with pytest.raises(AspectragError) as caught:
        connect(address)
    message = str(caught.value)
    assert message.startswith("MLflow does not take it at ")
    assert said in message
    assert "such as http://localhost:5000" in message
    assert "password" not in message
    assert "\n" not in message


def test_what_was_connected_goes_on_when_another_cannot_be_reached(uri, tmp_path):
    import mlflow

    first = connect(uri)
    with pytest.raises(AspectragError):
        connect("nowhere://there")
    assert mlflow.get_tracking_uri() == uri
    (tmp_path / "other").mkdir()
    with store(tmp_path / "other") as other:
        second = connect(other)
        first.trace(TRACE)
        second.trace(TRACE)
        assert [len(each.client.search_traces(locations=[each.experiment])) for each in (first, second)] == [1, 1]


def test_the_experiment_is_the_users_where_one_is_named(uri, monkeypatch):
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    first = connect(uri)
    assert first.client.get_experiment(first.experiment).name == "mine"
    assert connect(uri, "other").experiment != first.experiment
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_mlflow_that_is_not_installed_is_told_with_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(AspectragError, match=r"MLflow is not installed: pip install 'aspectrag\[mlflow\]'"):
        connect("sqlite:///mlflow.db")
