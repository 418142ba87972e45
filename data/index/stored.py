"""An opened index: searches, grows, and says what it is."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...errors import AspectragError
from ..passages import Passage
from .encoder import EncoderIdentity, Vectors
from .engine import open_engine
from .manifest import Manifest, read_manifest
from .ordering import check_search
from .store import PassageStore
from .workshop import open_workshop
from .writing import PASSAGES, VECTORS, Recipe, write_index

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AddReport:
    """What became of the passages given to ``Index.add``.

    Attributes:
        added: New ones.
        present: Ids that were there already with the same title and text.
        kept: Ids that were there with another title or text, which was kept (``on_conflict="keep"``).
    """

    added: int
    present: int
    kept: int

    def __str__(self) -> str:
        text = f"{self.added} new, {self.present} already present"
        return f"{text}, {self.kept} kept as they were" if self.kept else text


# What reading files that are not what they were makes of it: when they are opened, and when they are searched.
_UNREADABLE = (ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, TypeError, ValueError)
_MISPLACED = (IndexError, UnicodeDecodeError)


@contextmanager
def _damage_said(folder: Path, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    try:
        yield
    except errors as error:
        raise AspectragError(f"index {folder} is damaged ({type(error).__name__}: {error}): build it again") from error


class Index:
    """An index on disk. Opened by ``open_index``, made by ``build``. Safe to search from many threads.

    Attributes:
        folder: Where it is.
        manifest: What it is made of.
        engine: The ``Bm25Index``, ``DenseIndex``, ``HybridIndex`` or ``RerankedIndex`` behind it.
    """

    def __init__(self, folder: Path, manifest: Manifest, recipe: Recipe, *, mmap: bool = True) -> None:
        self.folder = folder
        self.manifest = manifest
        self._recipe = recipe
        self._mmap = mmap
        with _damage_said(folder, _UNREADABLE):
            self._store, self.engine = open_engine(folder, manifest, recipe, mmap=mmap)

    def __deepcopy__(self, memo: dict[int, object]) -> "Index":
        return self

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._store)

    def __getitem__(self, passage_id: str) -> Passage:
        """The passage with an id; ``KeyError`` if there is none."""
        row = self._store.row(passage_id)
        if row is None:
            raise KeyError(passage_id)
        return self._store.passage(row)

    def search(
        self, queries: Sequence[str], k: int, exclude: Sequence[Collection[str]] | None = None
    ) -> list[list[Passage]]:
        """Find up to ``k`` passages for each query, ordered by (score descending, id).

        A blank query finds nothing. BM25 returns only passages that share a term with the query.

        Args:
            queries: A batch: many at once are much faster than one by one.
            k: At least 1; may exceed the corpus.
            exclude: Ids not to return, one collection per query; for queries that are passages themselves.

        Raises:
            AspectragError: ``k`` is below 1, the batch is a single string, or ``exclude`` has another length.
        """
        check_search(queries, k)
        if exclude is None:
            with _damage_said(self.folder, _MISPLACED):
                return self.engine.search(queries, k)
        if len(exclude) != len(queries):
            raise AspectragError(f"exclude has {len(exclude)} entries for {len(queries)} queries: give one per query")
        wide = self.search(queries, k + max(map(len, exclude), default=0))
        return [
            [passage for passage in found if passage.id not in ids][:k]
            for found, ids in zip(wide, exclude, strict=True)
        ]

    def rank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """Return the best ``min(k, len(passages))`` of ``passages`` for ``query``, ordered by (score descending, id).

        Raises:
            AspectragError: ``k`` is below 1.
        """
        return self.engine.rank(query, passages, k)

    def stored_vectors(self, passages: Sequence[Passage], encoder: EncoderIdentity) -> dict[int, Vectors]:
        """Unit vectors ``[d]`` by place in ``passages``, of those that are stored and were made by ``encoder``."""
        ours = self.manifest.encoder
        if ours is None or not ours.same_as(encoder) or not len(self._store):
            return {}
        try:
            vectors = np.load(self.folder / self.manifest.generation / VECTORS, mmap_mode="r")
        except FileNotFoundError:  # whoever added passages meanwhile took the older files away
            return {}
        rows = self._store.known(passages).tolist()
        return {place: np.array(vectors[row]) for place, row in enumerate(rows) if row >= 0}

    def info(self) -> dict[str, Any]:
        """The manifest, with folder and size, JSON-ready."""
        return {
            "folder": str(self.folder),
            "bytes": sum(self.manifest.files.values()),
            **self.manifest.to_dict(),
        }

    def add(
        self,
        passages: Iterable[Passage],
        *,
        on_conflict: Literal["error", "keep"] = "error",
        report: Callable[[str], None] | None = None,
        progress: bool = True,
    ) -> AddReport:
        """Append passages; the result searches like an index built from all passages at once.

        Cost: vectors are encoded for new passages only. BM25 weights, graphs and inverted lists depend on the whole
        corpus and are made anew, and the passages are copied: seconds to tens of seconds per 100,000 passages.
        Searches go on meanwhile with what was there before.

        Args:
            passages: Read once. Ids that are present with the same title and text are skipped and counted.
            on_conflict: What to do about an id that is present with another title or text: refuse, or keep the old one.
            report: Receives one line before encoding starts; the log, if not given.
            progress: Whether to show a progress bar while encoding.

        Raises:
            AspectragError: A conflict, an id given twice, or another build of this index is running.
        """
        counts = {"added": 0, "present": 0, "kept": 0}
        with open_workshop(self.folder) as workshop:
            manifest = read_manifest(self.folder)  # another process may have added some
            store = PassageStore(self.folder / manifest.generation / PASSAGES)
            vectors = self.folder / manifest.generation / VECTORS
            known = np.load(vectors, mmap_mode="r") if manifest.encoder is not None and len(store) else None
            fresh = _fresh(store, passages, on_conflict, counts)
            first = next(fresh, None)
            if first is not None:
                manifest = write_index(
                    workshop,
                    chain(store, [first], fresh),
                    self._recipe,
                    known=known,
                    report=report or log_line,
                    progress=progress,
                )
                workshop.publish()
        if manifest.generation != self.manifest.generation:
            self._store, self.engine = open_engine(self.folder, manifest, self._recipe, mmap=self._mmap)
            self.manifest = manifest
        return AddReport(**counts)


def log_line(text: str) -> None:
    """Where reports go by default: the log of this package."""
    _log.info(text)


def _fresh(
    store: PassageStore, passages: Iterable[Passage], on_conflict: str, counts: dict[str, int]
) -> Iterator[Passage]:
    """The passages that a store lacks; counts them and the others."""
    for passage in passages:
        row = store.row(passage.id)
        if row is None:
            counts["added"] += 1
            yield passage
            continue
        old = store.passage(row)
        if (old.title, old.text) == (passage.title, passage.text):
            counts["present"] += 1
        elif on_conflict == "keep":
            counts["kept"] += 1
        else:
            raise AspectragError(
                f"passage {passage.id!r} is in the index with another text "
                f"({_start(old)} there, {_start(passage)} given): "
                'give it a new id, or keep the old one with on_conflict="keep"'
            )


def _start(passage: Passage) -> str:
    text = passage.contents
    return repr(text if len(text) <= 40 else text[:40] + "...")
