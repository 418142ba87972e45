"""The cache of a run: each question of each method pays for its own calls, whoever asked the same before."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import diskcache
import dspy
from dspy.clients.cache import Cache


class _Scoped(Cache):
    """DSPy's cache on disk, whose keys hold what the caller's context says it is working on."""

    def __init__(self, folder: Path) -> None:
        super().__init__(enable_disk_cache=False, enable_memory_cache=False, disk_cache_dir=None)
        # One file in place of DSPy's sixteen: each thread opens each of them, which takes longer than it saves.
        try:
            self.disk_cache = diskcache.Cache(str(folder), eviction_policy="none")
        except sqlite3.DatabaseError:  # damaged: what it held is asked again
            shutil.rmtree(folder, ignore_errors=True)
            self.disk_cache = diskcache.Cache(str(folder), eviction_policy="none")
        self.enable_disk_cache = True

    def cache_key(self, request: dict[str, Any], ignored_args_for_cache_key: list[str] | None = None) -> str:
        scope = dspy.settings.get("cache_scope") or ""
        return super().cache_key({**request, "aspectrag_scope": scope}, ignored_args_for_cache_key)


@contextmanager
def run_cache(folder: Path) -> Iterator[None]:
    """Put a cache of its own in place of DSPy's, for the time of a run."""
    library: Any = dspy  # type checkers do not see its cache
    before = library.cache
    library.cache = own = _Scoped(folder)
    try:
        yield
    finally:
        library.cache = before
        own.disk_cache.close()


def scope(*names: str) -> AbstractContextManager[None]:
    """What the calls inside belong to; calls of another scope are not answered by theirs."""
    return dspy.context(cache_scope="\0".join(names))
