"""Named artifacts."""

import os
from pathlib import Path


def home() -> Path:
    """Folder of everything fetched."""
    base = os.environ.get("ASPECTRAG_HOME")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aspectrag"


def fetch(name: str) -> Path:
    """The file of an artifact."""
    assert name
    return home() / "models" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
