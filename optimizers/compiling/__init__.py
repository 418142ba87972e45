"""Compiling: a method, or one stage of it, tuned by a DSPy optimizer against a metric, with an honest report."""

from typing import TYPE_CHECKING

from ...lazy import lazy

if TYPE_CHECKING:
    from .compiler import Compiled, compile_program
    from .examples import Examples
    from .recipes import Recipe, compile_recipe, recipe
    from .report import Report

_HOMES = {
    "Compiled": "compiler",
    "Examples": "examples",
    "Recipe": "recipes",
    "Report": "report",
    "compile_program": "compiler",
    "compile_recipe": "recipes",
    "recipe": "recipes",
}

__all__ = [
    "Compiled",
    "Examples",
    "Recipe",
    "Report",
    "compile_program",
    "compile_recipe",
    "recipe",
]

# Lazy: DSPy's optimizers take seconds to import.
__getattr__, __dir__ = lazy(__name__, _HOMES)
