"""Keeps a benchmark of the hub as files of the library's own records."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from filelock import FileLock

from ...errors import AspectragError
from ..growing import write_passages, write_records
from ..passages import Passage
from .benchmark import Benchmark
from .files import Placed
from .hub import from_hub
from .loading import read_all
from .records import to_own

Watch = Callable[[str, Iterable[Placed]], Iterable[Placed]]


def fetch(benchmark: Benchmark, folder: Path, watch: Watch | None = None) -> dict[str, int]:
    """Write ``tune.jsonl``, ``dev.jsonl`` and, where passages come with the records, ``corpus.jsonl``.

    The folder appears once all of it is there. Stopped before, the same call goes on with what was downloaded.

    Args:
        benchmark: The benchmark.
        folder: Must not exist, or be empty.
        watch: Is handed each split and its records, to show how far they have come.

    Returns:
        Counts of questions by split, and of passages under ``passages``.

    Raises:
        AspectragError: It cannot be had, or the folder is not free.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AspectragError(f"{folder} is not empty: remove it to fetch {benchmark.name} again, or give another --out")
    part = folder.with_name(f"{folder.name}.part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            counts = _write(benchmark, part, watch or (lambda _, records: records))
            if folder.exists():
                folder.rmdir()
            part.rename(folder)
    except OSError as error:
        raise AspectragError(f"{folder} cannot be written ({error.strerror or error})") from error
    return counts


def _write(benchmark: Benchmark, part: Path, watch: Watch) -> dict[str, int]:
    counts: dict[str, int] = {}
    corpus: dict[str, Passage] = {}
    for split in benchmark.hub.splits if benchmark.hub else ("dev",):
        questions, passages = read_all(benchmark, split, watch(split, from_hub(benchmark, split)), benchmark.name)
        extra = [category for category in benchmark.categories if category != "type" and category != "hops"]
        records = [to_own(one) | {name: one[name] for name in extra} for one in questions]
        write_records(part / f"{split}.jsonl", records)
        counts[split] = len(questions)
        corpus.update((passage.id, passage) for passage in passages)
    if corpus:
        write_passages(part / "corpus.jsonl", corpus.values())
        counts["passages"] = len(corpus)
    return counts
