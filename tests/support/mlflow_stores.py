"""An MLflow store in a file of its own for each test; its tables take seconds to lay out, so that is done once."""

import functools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aspectrag.errors import AspectragError
from aspectrag.optimizers.tracking import connect


@functools.cache
def _laid_out() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="mlflow-")
    connect(f"sqlite:///{folder.name}/mlflow.db", "first")
    return folder  # it lasts as long as the process


def missing() -> str:
    """Why MLflow cannot be tested; empty where it can."""
    try:
        connect("nowhere://", "none")
    except AspectragError as error:
        return str(error) if "is not installed" in str(error) else ""
    return ""


@contextmanager
def store(folder: Path) -> Iterator[str]:
    """The address of an empty store; afterwards MLflow is as it was."""
    import mlflow
    from mlflow.tracing import reset

    shutil.copyfile(Path(_laid_out().name) / "mlflow.db", folder / "mlflow.db")
    try:
        yield f"sqlite:///{folder}/mlflow.db"
    finally:
        reset()
        mlflow.set_tracking_uri(None)  # pyright: ignore[reportArgumentType] - this is how it is unset


def traces(uri: str) -> list[Any]:
    """All traces of the experiment, oldest first."""
    import mlflow

    client = mlflow.MlflowClient(uri)
    experiment = client.get_experiment_by_name("aspectrag")
    return client.search_traces(locations=[experiment.experiment_id], order_by=["timestamp_ms ASC"])


def runs(uri: str) -> list[Any]:
    """All runs of the experiment."""
    import mlflow

    client = mlflow.MlflowClient(uri)
    return client.search_runs([client.get_experiment_by_name("aspectrag").experiment_id])


def tree(trace: Any) -> list[tuple[int, str, str]]:
    """Its spans depth first: how deep, name and kind, those of a parent by when they began."""
    children: dict[str | None, list[Any]] = {}
    for span in sorted(trace.data.spans, key=lambda span: span.start_time_ns):
        children.setdefault(span.parent_id, []).append(span)

    def walk(parent: str | None, depth: int) -> Iterator[tuple[int, str, str]]:
        for span in children.get(parent, []):
            yield depth, span.name, span.attributes["aspectrag.kind"]
            yield from walk(span.span_id, depth + 1)

    return list(walk(None, 0))
