"""Reaching MLflow before any work is done for it."""

import os
from pathlib import Path
from typing import Any

from ...errors import AspectragError
from .reaching import reached
from .tracker import Tracker

EXPERIMENT = "aspectrag"
_SQLITE = "sqlite:///"
_SETTINGS = {
    # Nothing reaches out to the network on its own: MLflow by itself, and for prices by LiteLLM.
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # what is printed is for who asked
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # a server that is gone is told of in seconds, not in minutes
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "15",
}


def connect(uri: str, experiment: str | None = None) -> Tracker:
    """See that an MLflow server or store answers, and make it the one of this process.

    As ``mlflow.set_tracking_uri`` and ``mlflow.set_experiment`` do, this holds for whatever uses MLflow from here on.
    MLflow's telemetry is switched off, unless its environment variables say otherwise.

    Args:
        uri: Such as ``http://localhost:5000`` or ``sqlite:///mlflow.db``.
        experiment: Its name; made where there is none. ``$MLFLOW_EXPERIMENT_NAME``, or ``aspectrag``, by default.

    Raises:
        AspectragError: MLflow is not installed, or does not answer there.

    Example:
        >>> tracker = connect("sqlite:///mlflow.db")  # doctest: +SKIP
        >>> tracker.trace(program(question="Why do corals turn white?"))  # doctest: +SKIP
    """
    mlflow = _library()
    name = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT
    before = mlflow.get_tracking_uri()
    try:
        with reached(uri):
            _check_file(uri)
            mlflow.set_tracking_uri(uri)
            found = mlflow.set_experiment(name)
            return Tracker(uri, found.experiment_id, mlflow.MlflowClient(uri))
    except AspectragError:
        mlflow.set_tracking_uri(before)  # what was connected goes on
        raise


def _check_file(uri: str) -> None:
    """Refuse at once what MLflow would try again for a minute and a half."""
    if uri.startswith(_SQLITE):
        file = Path(uri.removeprefix(_SQLITE))
        if file.is_dir() or not file.resolve().parent.is_dir():
            raise ValueError(f"{file} is a folder, or lies in none that is there")


def _library() -> Any:
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import mlflow
    except ImportError as error:
        raise AspectragError(f"MLflow is not installed: pip install 'aspectrag[mlflow]' ({error})") from None
    return mlflow
