"""Where fetched benchmarks are."""

from pathlib import Path

from ...home import home


def fetched() -> Path:
    """The folder with a folder for each benchmark that was fetched."""
    return home() / "benchmarks"
