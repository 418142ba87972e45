"""Where fetched benchmarks are."""

import os
from pathlib import Path


def fetched() -> Path:
    """The folder with a folder for each benchmark that was fetched, in the cache that ``lms.artifacts.home`` is."""
    home = os.environ.get("ASPECTRAG_HOME")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(home).expanduser() if home else Path(cache) / "aspectrag") / "benchmarks"
