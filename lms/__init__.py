"""Language-model backends: the embedded one, and model strings for every other."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backends import load
    from .scripted import ScriptedEngine, scripted_lm

_HOMES = {
    "load": "backends",
    "ScriptedEngine": "scripted",
    "scripted_lm": "scripted",
}

__all__ = ["ScriptedEngine", "load", "scripted_lm"]


def __getattr__(name: str) -> Any:
    # Lazy, because a program that only names a model must not pay for the runtimes of all the others.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
