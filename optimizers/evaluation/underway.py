"""Calls of language models that are under way: who asks the same meanwhile waits for what the first is told."""

from collections.abc import Hashable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from threading import Lock, get_ident
from typing import Any

from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback


@dataclass
class _Call:
    """A call: the thread that makes it, what it asks where others may wait for that, and what they wait for."""

    thread: int
    key: Hashable = None
    ended: Future[None] = field(default_factory=Future)


class Underway(BaseCallback):
    """Knows which call asks what. DSPy tells of each when it begins, and, however it ends, when it ends."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: dict[str, _Call] = {}
        self._asking: dict[Hashable, _Call] = {}

    def wait(self, key: Hashable) -> bool:
        """Wait for the call that asks this; where there is none, it is the caller's, and others wait for that one.

        Returns:
            Whether there was one. It may have been broken off, and not be answered.

        Raises:
            Exception: What that call failed with.
        """
        with self._lock:
            own = self._calls.get(ACTIVE_CALL_ID.get() or "")
            if own is None or own.key is not None or not self._alone(own):
                return False
            other = self._asking.setdefault(key, own)
            if other is own:
                own.key = key
                return False
        other.ended.result()
        return True

    def _alone(self, own: _Call) -> bool:
        """Whether nobody can be waiting for this thread already: two that wait for each other would do so for ever.

        Models around other models make calls within calls. Of those that are awaited, answers are looked up by other
        threads, which must not be kept waiting, as there are few.
        """
        return own.thread == get_ident() and all(
            call is own or call.thread != own.thread for call in self._calls.values()
        )

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002, D102
        with self._lock:
            self._calls[call_id] = _Call(get_ident())

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: ARG002, D102
        with self._lock:
            call = self._calls.pop(call_id)
            if call.key is not None:
                del self._asking[call.key]
        # Who was interrupted was told nothing: the next one asks.
        if isinstance(exception, Exception) and not isinstance(exception, CancelledError):
            call.ended.set_exception(exception)
        else:
            call.ended.set_result(None)
