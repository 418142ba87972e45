"""The passages of an index on disk: memory-mapped, in order, found by row or by id without reading the rest."""

import hashlib
import json
import mmap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...errors import AspectragError
from ..passages import Passage
from .fingerprint import combine, hash_text, passage_digest
from .ordering import Hits

_TEXT = "passages.utf8"
_BOUNDS = "bounds.npy"
_RANKS = "ranks.npy"
_HASHES = "id_hashes.npy"
_ROWS = "id_rows.npy"
# One row per passage: where its bytes begin and end, and how many characters its id, title and text have in them. One
# cut out of the map and one decoding give all fields; what follows the text is the meta, as JSON, if there is any.
_BOUNDS_COLUMNS = 5

# A frozen class assigns its fields one by one through a check; for thousands of hits that costs more than reading them.
_set_id, _set_title, _set_text, _set_score, _set_meta = (
    getattr(Passage, field.name).__set__ for field in fields(Passage)
)


def _id_hash(passage_id: str) -> int:
    digest = hashlib.blake2b(passage_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _stored(passage: Passage) -> str:
    if not all(isinstance(field, str) for field in (passage.id, passage.title, passage.text)):
        raise AspectragError(f"passage {passage.id!r}: id, title and text must be strings; convert them when reading")
    try:
        meta = json.dumps(dict(passage.meta), ensure_ascii=True) if passage.meta else ""
    except (TypeError, ValueError) as error:
        raise AspectragError(
            f"passage {passage.id!r}: its meta is not JSON ({error}); keep plain values there"
        ) from None
    return passage.id + passage.title + passage.text + meta


def write_store(passages: Iterable[Passage], folder: Path) -> tuple[int, str]:
    """Write passages into a new folder, streaming: memory holds the ids alone.

    Returns:
        Number of passages and corpus hash.

    Raises:
        AspectragError: An id occurs twice, or a field cannot be stored.
    """
    folder.mkdir(parents=True)
    ids: list[str] = []
    seen: dict[str, int] = {}
    bounds: list[tuple[int, int, int, int, int]] = []
    end = total = 0
    with (folder / _TEXT).open("wb") as file:
        for row, passage in enumerate(passages):
            first = seen.setdefault(passage.id, row)
            if first != row:
                raise AspectragError(
                    f"passage id {passage.id!r} occurs twice (passages {first} and {row}): "
                    "make ids unique before indexing"
                )
            ids.append(passage.id)
            # Lone surrogates occur in badly decoded files and must come back as they were.
            data = _stored(passage).encode("utf-8", "surrogatepass")
            file.write(data)
            begin, end = end, end + len(data)
            bounds.append((begin, end, len(passage.id), len(passage.title), len(passage.text)))
            total = combine(total, passage_digest(passage))
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    ranks = np.empty(len(ids), dtype=np.int32)
    ranks[order] = np.arange(len(ids), dtype=np.int32)
    hashes = np.fromiter(map(_id_hash, ids), dtype=np.uint64, count=len(ids))
    rows = np.argsort(hashes, kind="stable")
    np.save(folder / _BOUNDS, np.array(bounds, dtype=np.int64).reshape(-1, _BOUNDS_COLUMNS))
    np.save(folder / _RANKS, ranks)
    np.save(folder / _HASHES, hashes[rows])
    np.save(folder / _ROWS, rows)
    return len(ids), hash_text(total)


class PassageStore:
    """Passages in the order in which they were given, on disk until asked for. Safe to read from many threads.

    Attributes:
        ranks: Place of each row's id among all ids, shape ``[count]``: sorting by it is sorting by id.
    """

    def __init__(self, folder: Path) -> None:
        self._bounds = _load(folder / _BOUNDS)
        self._hashes = _load(folder / _HASHES)
        self._rows = _load(folder / _ROWS)
        self.ranks: npt.NDArray[np.int32] = _load(folder / _RANKS)
        with (folder / _TEXT).open("rb") as file:
            # An empty file cannot be mapped.
            self._text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if len(self) else b""

    def __len__(self) -> int:
        return len(self.ranks)

    def __iter__(self) -> Iterator[Passage]:
        return (self.passage(row) for row in range(len(self)))

    def passage(self, row: int) -> Passage:
        """The passage in one row, counted from 0."""
        return self._read([self._bounds[row].tolist()], [None])[0]

    def passages(self, found: Sequence[Hits]) -> list[list[Passage]]:
        """The passages of all rows that were found, with their scores: one list per query."""
        if not found:
            return []
        places = self._bounds[np.concatenate([hits.rows for hits in found])].tolist()
        read = iter(self._read(places, np.concatenate([hits.scores for hits in found]).tolist()))
        return [list(islice(read, len(hits.rows))) for hits in found]

    def _read(self, places: list[list[int]], scores: Sequence[float | None]) -> list[Passage]:
        # One loop without calls of ours: a batch reads thousands of passages.
        passages = []
        text, new = self._text, object.__new__
        for (begin, end, id_length, title_length, text_length), score in zip(places, scores, strict=True):
            data = text[begin:end].decode("utf-8", "surrogatepass")
            title = id_length + title_length
            meta = title + text_length
            passage = new(Passage)
            _set_id(passage, data[:id_length])
            _set_title(passage, data[id_length:title])
            _set_text(passage, data[title:meta])
            _set_score(passage, score)
            _set_meta(passage, json.loads(data[meta:]) if len(data) > meta else {})
            passages.append(passage)
        return passages

    def row(self, passage_id: str) -> int | None:
        """Row of an id, or ``None``."""
        wanted = np.uint64(_id_hash(passage_id))
        place = int(np.searchsorted(self._hashes, wanted))
        while place < len(self) and self._hashes[place] == wanted:  # two ids may share a hash
            row = int(self._rows[place])
            if self.passage(row).id == passage_id:
                return row
            place += 1
        return None

    def known(self, passages: Sequence[Passage]) -> npt.NDArray[np.int64]:
        """Row of each passage that is stored with this id and these contents, else -1: ``[len(passages)]``."""
        rows = np.full(len(passages), -1, dtype=np.int64)
        for place, passage in enumerate(passages):
            row = self.row(passage.id)
            if row is not None and self.passage(row).contents == passage.contents:
                rows[place] = row
        return rows


def _load(path: Path) -> npt.NDArray:
    # A plain view of the map: slices of numpy's memmap class cost several times as much.
    return np.asarray(np.load(path, mmap_mode="r"))
