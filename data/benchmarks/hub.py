"""Benchmarks from the Hugging Face hub, through ``datasets``."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from ...errors import AspectragError
from .benchmark import Benchmark
from .files import Placed
from .releases import NoSplitError
from .store import fetched

_LINE = 160


def address(benchmark: Benchmark, split: str) -> str:
    """Where a split is on the hub, as messages say it.

    Raises:
        AspectragError: The benchmark is not there, or has no such split.
    """
    hub = benchmark.hub
    if hub is None:
        where = f": get it from {benchmark.origin}" if benchmark.origin else ""
        raise AspectragError(f"{benchmark.name} is no data set of the hub{where}; {_placed(benchmark)}")
    if split not in hub.splits:
        raise NoSplitError(f"{benchmark.name} has no split {split}, only {', '.join(hub.splits)}")
    return f"{hub.path}{f' ({hub.config})' if hub.config else ''}, split {hub.splits[split]}"


def _placed(benchmark: Benchmark) -> str:
    """Where files of a benchmark are looked for, whatever asks for it."""
    return (
        f"put the files, as published or in the form of 'aspectrag data fetch', into {fetched() / benchmark.name}, or "
        f"into a folder {benchmark.name} of the one that --data names; 'aspectrag data show {benchmark.name}' tells "
        "whether they read"
    )


def from_hub(benchmark: Benchmark, split: str) -> Iterator[Placed]:
    """Yield the rows of a split with their places; ``datasets`` keeps what it downloads, and goes on where it stopped.

    Raises:
        AspectragError: The benchmark is not there, has no such split, or cannot be reached.
    """
    there, hub = address(benchmark, split), benchmark.hub
    assert hub  # or it would have no address
    import datasets  # here: it takes a second to import, and local files do without

    try:
        rows = cast("Iterable[Any]", datasets.load_dataset(hub.path, hub.config, split=hub.splits[split]))
    except Exception as error:  # whatever the network, the cache or the hub have to say
        reason = " ".join(str(error).split())[:_LINE] or type(error).__name__
        raise AspectragError(
            f"{benchmark.name} could not be had from the hub ({there}: {reason}). Without a network, run 'aspectrag "
            f"data fetch {benchmark.name} --out {benchmark.name}' on a machine that has one; {_placed(benchmark)}"
        ) from None
    for number, row in enumerate(rows, 1):
        yield f"{there}, row {number}", row
