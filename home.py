"""Where the package keeps what it fetched and what it made of that."""

import os
from pathlib import Path


def home() -> Path:
    """Folder of everything that is fetched or derived from it: ``$ASPECTRAG_HOME``, else in the user's cache."""
    if chosen := os.environ.get("ASPECTRAG_HOME"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aspectrag"
