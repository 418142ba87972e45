"""What is going on, while it goes on: a line on stderr that names the stage at work."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback
from rich.status import Status

from .views.terminal import console


class _Stages(BaseCallback):
    def __init__(self, program: dspy.Module, status: Status) -> None:
        self._names = {id(predictor): name for name, predictor in program.named_predictors()}
        self._status = status

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002
        if name := self._names.get(id(instance)):
            self._status.update(f"{name.replace('_', ' ')} …")


@contextmanager
def stages(program: dspy.Module, *, shown: bool = True) -> Iterator[Status]:
    """Show which stage of ``program`` runs, in a terminal; ``stop()`` what comes out to make room for the answer."""
    status = console(stderr=True).status("starting …")
    if not shown:
        yield status
        return
    with status, dspy.context(callbacks=[*dspy.settings.callbacks, _Stages(program, status)]):
        yield status


@contextmanager
def waiting(what: str, *, shown: bool = True) -> Iterator[None]:
    """Say what takes its time, in a terminal."""
    if not shown:
        yield
        return
    with console(stderr=True).status(what):
        yield


def load_model(model: dspy.LM, *, shown: bool = True) -> None:
    """Load a language model that runs in this process, and say so: it takes its time."""
    # An engine of one model loads itself; of the models of a shared one, each says what it needs.
    if load_now := getattr(model, "load", None) or getattr(model.engine, "load", None):
        with waiting("loading the language model (converted the first time, some minutes at most) …", shown=shown):
            load_now()
