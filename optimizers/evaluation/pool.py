"""Many questions at once: a pool that never waits for the slowest of a batch, and that can be interrupted."""

import contextvars
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Event
from typing import TypeVar

import dspy

from ...programs.blocks.cancelling import watched

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def as_they_come(
    work: Callable[[Item], Outcome], items: Iterable[Item], workers: int, *, finish: bool = False
) -> Generator[tuple[Item, Outcome]]:
    """Yield each item with what its work gave, the first to finish first; items are taken as there is room.

    Each runs in a thread that sees the caller's DSPy context. Once the generator is closed no further call is made.

    Args:
        work: Called once per item; what it raises ends all.
        items: What is worked on.
        workers: How many at once.
        finish: Whether closing waits for the calls under way, so that what was paid for can still be kept.
    """
    stop = Event()
    cancelled = watched(stop)

    def branch(item: Item) -> Outcome:
        # DSPy's own trace is for optimizers: shared between threads, it would only grow.
        with dspy.context(cancelled=cancelled, trace=None):
            return work(item)

    pool = ThreadPoolExecutor(workers, thread_name_prefix="question")
    queue = iter(items)
    running: dict[Future[Outcome], Item] = {}
    try:
        while True:
            for item in islice(queue, workers - len(running)):
                running[pool.submit(contextvars.copy_context().run, branch, item)] = item
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        stop.set()
        pool.shutdown(wait=finish, cancel_futures=True)
