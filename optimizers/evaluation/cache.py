"""The cache of a run: each question of each method pays for its own calls, whoever asked the same before."""

import pickle
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import dspy
from dspy.clients.cache import Cache

from .underway import Underway

_SETTING = "cache_scope"


class RunCache(Cache):
    """Answers of language models by question, in a file that only grows: a question once answered is not asked again.

    DSPy's own store opens sixteen databases in each thread, and would keep all answers as long as the disk holds. Here,
    what an earlier attempt at a question had already asked, before it failed or was killed, is free now and was not
    then: it is counted as spent, so that a table does not depend on how often it was begun. Threads that ask the same
    at the same time ask it once, within :func:`run_cache`.

    Args:
        file: Where answers are written, as they come in.

    Attributes:
        underway: Calls that have not come back.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(enable_disk_cache=False, enable_memory_cache=False, disk_cache_dir=None)
        self.enable_disk_cache = True  # its store is this object: see get, set
        self.disk_cache: Any = self
        self._answers: dict[str, dict[str, Any]] = defaultdict(dict)
        self._counted: dict[str, set[str]] = defaultdict(set)
        self._lock_file = Lock()
        self.underway = Underway()
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = self._read(file)
        self._file = file.open("ab", buffering=0)
        self._file.truncate(whole)

    def _read(self, file: Path) -> int:
        """Read what an earlier attempt left; returns where the last whole answer ends."""
        whole = 0
        if file.is_file():
            with file.open("rb") as old:
                try:
                    while True:
                        scope, key, answer = pickle.load(old)
                        self._answers[scope][key] = answer
                        whole = old.tell()
                except Exception:  # its end, what a kill cut short, or damage: what follows is asked again
                    pass
        return whole

    def get(self, request: Any, ignored_args_for_cache_key: list[str] | None = None) -> Any:
        """The answer of an earlier call of the same question, or of one that is under way, marked as one.

        Raises:
            Exception: What the call failed with that was under way.
        """
        scope, key = _scope(), self.cache_key(request, ignored_args_for_cache_key)
        while (found := self._answers[scope].get(key)) is None:
            if not self.underway.wait((scope, key)):
                found = self._answers[scope].get(key)  # that call may have ended just before
                break
        if found is None:
            return None
        if key not in self._counted[scope]:
            self._counted[scope].add(key)
            usage = found.get("usage") if isinstance(found, dict) else getattr(found, "usage", None)
            if tracker := dspy.settings.usage_tracker:
                tracker.add_usage("earlier", dict(usage or {}))
        return self._prepare_cached_response(found)

    def put(
        self,
        request: Any,
        value: Any,
        ignored_args_for_cache_key: list[str] | None = None,
        enable_memory_cache: bool = True,  # noqa: ARG002 - part of DSPy's interface
    ) -> None:
        """Keep an answer."""
        scope, key = _scope(), self.cache_key(request, ignored_args_for_cache_key)
        self._counted[scope].add(key)
        self._answers[scope][key] = value
        with self._lock_file:
            self._file.write(pickle.dumps((scope, key, value)))

    def begin(self, scope: str) -> None:
        """A new attempt at a question: what earlier ones asked counts once more."""
        self._counted.pop(scope, None)

    def forget(self, scope: str) -> None:
        """A question that is answered asks no more."""
        self._answers.pop(scope, None)
        self._counted.pop(scope, None)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


@contextmanager
def run_cache(file: Path) -> Iterator[RunCache]:
    """Put a cache of its own in place of DSPy's, for the time of a run."""
    library: Any = dspy  # type checkers do not see its cache
    before = library.cache
    library.cache = own = RunCache(file)
    try:
        with dspy.context(callbacks=[*dspy.settings.callbacks, own.underway]):
            yield own
    finally:
        library.cache = before
        own.close()


def scoped(name: str) -> AbstractContextManager[None]:
    """What the calls inside belong to; calls of another scope are not answered by theirs."""
    return dspy.context(**{_SETTING: name})


def _scope() -> str:
    return dspy.settings.get(_SETTING) or ""
