"""Keeps a benchmark of the hub as files of the library's own records."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock

from ...errors import AspectragError
from ...texts import encodable
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
        _lines(part / f"{split}.jsonl", records)
        counts[split] = len(questions)
        corpus.update((passage.id, passage) for passage in passages)
    if corpus:
        _lines(part / "corpus.jsonl", ({"id": p.id, "title": p.title, "text": p.text} for p in corpus.values()))
        counts["passages"] = len(corpus)
    return counts


def _lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(encodable(json.dumps(record, ensure_ascii=False)) + "\n")
