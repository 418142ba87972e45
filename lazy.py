"""Names that a package has without importing the modules they come from, until one is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package.

    A name must not be that of a module of the package: once imported, the module would stand in its place.

    Args:
        package: Its ``__name__``.
        homes: For each name the module of the package that has it.

    Example:
        >>> get, names = lazy("aspectrag", {"AspectragError": "errors"})
        >>> get("AspectragError").__name__, names()
        ('AspectragError', ['AspectragError'])
    """

    def get(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f".{homes[name]}", package), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(homes)
