"""BM25 over title and text: ``bm25s`` with this package's analyzer, memory-mapped.

Variant: the "accurate" Lucene one of Kamphuis et al. (ECIR 2020), which is the default of ``bm25s``::

    score(q, d) = sum over terms t of q:  idf(t) * tf / (tf + k1 * (1 - b + b * |d| / average))
    idf(t)      = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))

``k1`` says how soon repeating a term stops paying, ``b`` how much long passages are held back. The formula is never
negative, so a passage is a hit exactly when it shares a term with the query.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..passages import Passage
from .analyzer import Analyzer
from .ordering import Hits, best_positive, check_k, check_search, ranked
from .store import PassageStore

_STATISTICS = "statistics.json"


def write_bm25(store: PassageStore, folder: Path, analyzer: Analyzer, k1: float, b: float) -> None:
    """Index all passages of a store.

    The weights of all passages depend on all passages (document frequencies, mean length), so adding some later means
    writing this anew, which takes as long as building it.
    """
    import bm25s

    folder.mkdir(parents=True)
    numbers, vocabulary = analyzer.number(passage.contents for passage in store)
    lengths = [len(terms) for terms in numbers]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    (folder / _STATISTICS).write_text(json.dumps({"average_length": average, "k1": k1, "b": b}), encoding="utf-8")
    if vocabulary:  # bm25s cannot index passages without a single term
        scorer = bm25s.BM25(k1=k1, b=b, method="lucene")
        scorer.index((numbers, vocabulary), create_empty_token=False, show_progress=False)
        scorer.save(folder, show_progress=False)


class Bm25Index:
    """Finds passages by their words; see the module for the formula. Safe to search from many threads.

    Args:
        store: The passages.
        folder: What ``write_bm25`` wrote for that store.
        analyzer: The analyzer it was written with.
        mmap: Whether to leave the weights on disk (the system caches what is used) or to read them into memory.
    """

    def __init__(self, store: PassageStore, folder: Path, analyzer: Analyzer, *, mmap: bool = True) -> None:
        import bm25s

        self._store = store
        self._analyzer = analyzer
        statistics = json.loads((folder / _STATISTICS).read_text(encoding="utf-8"))
        self._average_length: float = statistics["average_length"]
        self._k1: float = statistics["k1"]
        self._b: float = statistics["b"]
        self._scorer: Any = None
        if self._average_length:
            self._scorer = bm25s.BM25.load(folder, mmap=mmap, show_progress=False)
            for name in ("data", "indices", "indptr"):
                # Plain views: slices of numpy's memmap class cost several times as much.
                self._scorer.scores[name] = np.asarray(self._scorer.scores[name])

    def __deepcopy__(self, memo: dict[int, object]) -> "Bm25Index":
        return self

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """Up to ``k`` passages per query that share a term with it; scores are BM25, above 0.

        Raises:
            AspectragError: ``k`` is below 1.
        """
        return self._store.passages(self.find(queries, k))

    def find(self, queries: Sequence[str], k: int) -> list[Hits]:
        """Like ``search``, as rows of the store."""
        check_search(queries, k)
        found = []
        for query in queries:
            scores = self._scores(query)
            rows = best_positive(scores, k, self._store.ranks) if scores is not None else np.empty(0, dtype=np.int64)
            found.append(Hits(rows, scores[rows].astype(np.float64)) if scores is not None else Hits.none())
        return found

    def rank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """Order given passages by their BM25 score for ``query``.

        A passage of the index has the score that ``search`` gives it; any other is scored with the statistics of the
        index (document frequencies, mean length), as if it had been looked up there. Scores of 0 are kept.

        Raises:
            AspectragError: ``k`` is below 1.
        """
        check_k(k)
        return ranked(passages, self.relevance(query, passages), k)

    def relevance(self, query: str, passages: Sequence[Passage]) -> npt.NDArray[np.float64]:
        """BM25 score of each of ``passages``, ``[len(passages)]``."""
        scores = self._scores(query)
        if scores is None:
            return np.zeros(len(passages))
        rows = self._store.known(passages)
        result = scores[rows].astype(np.float64)
        for place in np.flatnonzero(rows < 0).tolist():
            result[place] = self._score_unknown(query, passages[place])
        return result

    def _term_numbers(self, query: str) -> list[int]:
        return self._scorer.get_tokens_ids(self._analyzer.tokens(query)) if self._scorer else []

    def _scores(self, query: str) -> npt.NDArray[np.float32] | None:
        """Score of every row, or ``None`` when the index knows no term of the query."""
        numbers = self._term_numbers(query)
        return self._scorer.get_scores_from_ids(numbers) if numbers else None

    def _score_unknown(self, query: str, passage: Passage) -> float:
        terms = self._analyzer.tokens(passage.contents)
        counts = Counter(self._scorer.get_tokens_ids(terms))
        norm = self._k1 * (1 - self._b + self._b * len(terms) / self._average_length)
        bounds = self._scorer.scores["indptr"]
        score = 0.0
        for number in self._term_numbers(query):
            if tf := counts[number]:
                df = int(bounds[number + 1] - bounds[number])
                score += math.log(1 + (len(self._store) - df + 0.5) / (df + 0.5)) * tf / (tf + norm)
        return score
