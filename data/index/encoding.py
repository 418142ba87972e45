"""Encoding a corpus: resumable, bounded in memory, and honest about its time before it starts."""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ...errors import AspectragError
from .encoder import Encoder, Vectors, unit_rows
from .store import PassageStore

SHARD_SIZE = 2048
"""Passages per shard: what a killed build repeats at most, and what memory holds at once."""

_SAMPLE = 64
_SAMPLE_BATCH = 8


def encode_store(
    store: PassageStore,
    encoder: Encoder,
    target: Path,
    shards: Path,
    *,
    known: Vectors | None = None,
    report: Callable[[str], None],
    progress: bool = True,
    shard_size: int | None = None,
) -> int:
    """Encode all passages of a store into one ``.npy`` file of unit vectors, ``[count, dimension]`` float32.

    Shards are written as they are done, each named by a hash of the encoder and of the texts in it. A later build that
    meets the same texts takes the shard from disk, whatever stopped the earlier one.

    Args:
        store: The passages.
        encoder: What turns them into vectors.
        target: File to write.
        shards: Folder of finished shards; left as it is, for the caller to remove when all is in place.
        known: Vectors of the first rows, which are then not encoded again.
        report: Receives the expected time and the disk need, in one line, before the work starts.
        progress: Whether to show a progress bar.
        shard_size: Passages per shard; ``SHARD_SIZE``, if not given.

    Returns:
        The dimension; 0 for a store without passages.

    Raises:
        AspectragError: Too little disk, or vectors that are not finite or of changing dimension.
    """
    shards.mkdir(parents=True, exist_ok=True)
    start = 0 if known is None else len(known)
    paths: list[tuple[range, Path]] = []
    for rows in _blocks(start, len(store), shard_size or SHARD_SIZE):
        paths.append((rows, shards / f"{_shard_key(store, rows, encoder)}.npy"))
    pending = [(rows, path) for rows, path in paths if not path.is_file()]
    _encode_pending(store, encoder, pending, None if known is None else known.shape[1], report, progress)
    return _join(paths, known, len(store), target)


def _encode_pending(
    store: PassageStore,
    encoder: Encoder,
    pending: list[tuple[range, Path]],
    dimension: int | None,
    report: Callable[[str], None],
    progress: bool,
) -> None:
    if not pending:
        return
    from tqdm.auto import tqdm

    name = encoder.identity.name
    total = sum(len(rows) for rows, _ in pending)
    seconds, dimension = _measure(store, encoder, pending, dimension)
    need = 4 * dimension * len(store) * 2  # the shards and the file they are joined into
    room = pending[0][1].parent
    free = shutil.disk_usage(room).free
    if need > free:
        raise AspectragError(
            f"vectors need {need / 1e6:,.0f} MB of disk, {free / 1e6:,.0f} MB are free in {room}: make room"
        )
    report(
        f"encoding {total:,} passages with {name}: about {_duration(seconds)} "
        f"({total / max(seconds, 1e-9):,.0f} passages/s measured on {min(total, _SAMPLE)}), "
        f"{need / 1e6:,.0f} MB of disk"
    )
    with tqdm(total=total, desc="Encoding", unit="passage", disable=None if progress else True) as bar:
        for rows, path in pending:
            texts = [store.passage(row).contents for row in rows]
            vectors = unit_rows(encoder.encode_passages(texts), len(texts), dimension, name)
            part = path.with_suffix(".part")
            with part.open("wb") as file:
                np.save(file, vectors)
            part.replace(path)
            bar.update(len(rows))


def _measure(
    store: PassageStore, encoder: Encoder, pending: list[tuple[range, Path]], dimension: int | None
) -> tuple[float, int]:
    """Expected seconds for all pending shards, from a small batch spread over them, and the dimension."""
    rows = [row for block, _ in pending for row in block]
    places = np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(int)
    # Like batches of a shard, those of the sample hold texts of similar length: a mixed one would be mostly padding.
    sample = sorted((store.passage(rows[place]).contents for place in places), key=len)
    name = encoder.identity.name
    encoder.encode_passages(sample[:1])  # the first call also loads the model
    begun = time.perf_counter()
    for first in range(0, len(sample), _SAMPLE_BATCH):
        batch = sample[first : first + _SAMPLE_BATCH]
        dimension = unit_rows(encoder.encode_passages(batch), len(batch), dimension, name).shape[1]
    assert dimension is not None, "a sample has at least one text"
    return (time.perf_counter() - begun) / len(sample) * len(rows), dimension


def _join(paths: list[tuple[range, Path]], known: Vectors | None, count: int, target: Path) -> int:
    if known is not None and len(known):
        dimension = known.shape[1]
    elif paths:
        dimension = np.load(paths[0][1], mmap_mode="r").shape[1]
    else:
        np.save(target, np.empty((0, 0), dtype=np.float32))
        return 0
    joined = np.lib.format.open_memmap(target, mode="w+", dtype=np.float32, shape=(count, dimension))
    if known is not None:
        for rows in _blocks(0, len(known), SHARD_SIZE):
            joined[rows.start : rows.stop] = known[rows.start : rows.stop]
    for rows, path in paths:
        joined[rows.start : rows.stop] = np.load(path, mmap_mode="r")
    joined.flush()
    return dimension


def _blocks(start: int, stop: int, size: int) -> Iterator[range]:
    return (range(first, min(first + size, stop)) for first in range(start, stop, size))


def _shard_key(store: PassageStore, rows: range, encoder: Encoder) -> str:
    identity = encoder.identity
    sha = hashlib.sha256(repr((identity.weights, identity.pooling, identity.passage_prompt)).encode())
    for row in rows:
        text = store.passage(row).contents.encode("utf-8", "surrogatepass")
        sha.update(len(text).to_bytes(8, "little"))
        sha.update(text)
    return sha.hexdigest()


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
