"""Compiling: a method, or one stage of it, tuned by a DSPy optimizer against a metric, with an honest report."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler import Compiled, compile_program
    from .recipes import compile_recipe

_HOMES = {"Compiled": "compiler", "compile_program": "compiler", "compile_recipe": "recipes"}

__all__ = ["Compiled", "compile_program", "compile_recipe"]


def __getattr__(name: str) -> Any:
    # Lazy: DSPy's optimizers take seconds to import.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
