"""Language-model backends: the embedded one, and model strings for every other."""

from typing import TYPE_CHECKING

from ..lazy import lazy

if TYPE_CHECKING:
    from .artifacts import fetch
    from .backends import load, resolve, roles
    from .health import CheckResult, check, explain
    from .local.names import adapters
    from .options import LmOptions
    from .scripted import ScriptedCall, ScriptedEngine, scripted_lm

_HOMES = {
    "CheckResult": "health",
    "LmOptions": "options",
    "ScriptedCall": "scripted",
    "ScriptedEngine": "scripted",
    "adapters": "local.names",
    "check": "health",
    "explain": "health",
    "fetch": "artifacts",
    "load": "backends",
    "resolve": "backends",
    "roles": "backends",
    "scripted_lm": "scripted",
}

__all__ = [
    "CheckResult",
    "LmOptions",
    "ScriptedCall",
    "ScriptedEngine",
    "adapters",
    "check",
    "explain",
    "fetch",
    "load",
    "resolve",
    "roles",
    "scripted_lm",
]

# Lazy, because a program that only names a model must not pay for the runtimes of all the others.
__getattr__, __dir__ = lazy(__name__, _HOMES)
