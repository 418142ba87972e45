"""MLflow: traces as spans, evaluations and compiled programs as runs (extra ``mlflow``)."""

from .connecting import connect
from .tracker import Tracker

__all__ = ["Tracker", "connect"]
