"""Independent parts of a question, side by side."""

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any, TypeVar

import dspy

from ..trace import step
from .cancelling import watched

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

# More side by side would only queue at the model; a retriever may find hundreds of passages.
MOST_THREADS = 32
# Lists in DSPy's settings that calls append to: each branch gets its own, joined in item order afterwards.
_COLLECTED = ("trace", "fallbacks")


def run_all(work: Callable[[Item], Outcome], items: Sequence[Item], name: str) -> list[Outcome]:
    """Apply ``work`` to every item at once and return the results in the order of the items.

    Each item runs in a thread of its own that sees the caller's DSPy context. Nothing depends on which finishes first:
    results, fallbacks, DSPy's own trace and the branches of ours are put down in item order. Where items fail, all are
    waited for and the first failure, in item order, is raised.

    Args:
        work: Called once per item.
        items: The parts; none gives an empty list.
        name: What a part is called in the trace.
    """
    shared: dict[str, list] = {key: value for key in _COLLECTED if (value := dspy.settings.get(key)) is not None}
    interrupted = Event()
    cancelled = watched(interrupted)
    own: list[dict[str, list]] = [{key: [] for key in shared} for _ in items]

    def branch(index: int, entry: Any) -> Outcome:
        # Streaming goes from one thread to one listener: only the final answer, outside of branches, may use it.
        with entry as current, dspy.context(**own[index], send_stream=None, cancelled=cancelled):
            current.outputs = outcome = work(items[index])
        return outcome

    # The steps are made here, in order, and entered by whichever thread runs them.
    entries = [step("branch", f"{name} {n}", item) for n, item in enumerate(items, 1)]
    if len(items) <= 1:
        outcomes = [branch(index, entry) for index, entry in enumerate(entries)]
    else:
        pool = ThreadPoolExecutor(max_workers=min(len(items), MOST_THREADS), thread_name_prefix=name)
        try:
            futures = [
                pool.submit(contextvars.copy_context().run, branch, index, entry) for index, entry in enumerate(entries)
            ]
            wait(futures)
        except BaseException:
            interrupted.set()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # an interrupted caller does not wait for the others
        outcomes = [future.result() for future in futures]
    for key, value in shared.items():
        for lists in own:
            value.extend(lists[key])
    return outcomes
