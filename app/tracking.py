"""``--mlflow``: what a command did, in MLflow too."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import AspectragError
from .corpora import say

if TYPE_CHECKING:
    from ..optimizers.tracking import Tracker

Mlflow = Annotated[
    str | None,
    typer.Option(
        "--mlflow",
        metavar="URI",
        help="MLflow server or store that is told too, such as http://localhost:5000 or sqlite:///mlflow.db.",
        show_default=False,
    ),
]


def tracker_of(uri: str | None) -> "Tracker | None":
    """MLflow, where it was asked for; called before any work is done.

    Raises:
        AspectragError: It is not installed, or does not answer.
    """
    if uri is None:
        return None
    from ..optimizers.tracking import connect

    return connect(uri)


def tell(tracker: "Tracker | None", what: "Callable[[Tracker], None]") -> None:
    """Hand over what was done; where MLflow does not take it, one line says so, and the work is not lost."""
    if tracker is None:
        return
    try:
        what(tracker)
    except AspectragError as error:
        say(f"! --mlflow: {error}")
