"""What the pointer ranker sees of a question and its pool: vectors, places in the lists that found it, lengths."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock

import numpy as np
import numpy.typing as npt

from ...data.index.encoder import Encoder, unit_rows
from ...data.index.retriever import VectorSource
from ...data.passages import Passage
from ...data.sentences import half_words
from .candidates import QUESTION, Candidate

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Features:
    """One question with its pool, ``m`` candidates and ``n`` aspects; vectors are unit vectors of ``d`` dimensions.

    Attributes:
        question: Vector of the question, ``[d]``.
        aspects: Vectors of question and aspect, as they were searched with, ``[n, d]``.
        passages: Vectors of the candidates, ``[m, d]``.
        places: Reciprocal rank of each candidate in the list of each aspect, 0 where it is not in it, ``[n, m]``.
        place: The same in the list of the bare question, ``[m]``.
        lengths: Logarithm of the number of words, ``[m]``.
    """

    question: Floats
    aspects: Floats
    passages: Floats
    places: Floats
    place: Floats
    lengths: Floats


class Vectors:
    """Encodes what is met for the first time, in one batch; vectors of passages are kept by a hash of their text.

    Args:
        encoder: Turns texts into vectors.
        most: Passages whose vectors are kept, those used last (1,536 bytes each for 384 dimensions).
    """

    def __init__(self, encoder: Encoder, most: int = 100_000) -> None:
        self.encoder = encoder
        self._most = most
        self._kept: OrderedDict[bytes, Floats] = OrderedDict()
        self._lock = Lock()

    def passages(self, passages: Sequence[Passage], retriever: object = None) -> Floats:
        """Unit vectors of passages, ``[len(passages), d]``; those that the retriever's index holds are not encoded."""
        texts = [passage.contents for passage in passages]
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        new = [place for place, key in enumerate(keys) if key not in known]
        if new and isinstance(retriever, VectorSource):
            stored = retriever.stored_vectors([passages[place] for place in new], self.encoder.identity)
            known |= {keys[new[place]]: vector for place, vector in stored.items()}
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if fresh:
            vectors = self.encoder.encode_passages(list(fresh.values()))
            known |= dict(zip(fresh, unit_rows(vectors, len(fresh), None, self.encoder.identity.name), strict=True))
        with self._lock:
            for key in keys:
                self._kept[key] = known[key]
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return np.stack([known[key] for key in keys])

    def queries(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of queries, ``[len(texts), d]``."""
        return unit_rows(self.encoder.encode_queries(texts), len(texts), None, self.encoder.identity.name)


def query(question: str, aspect: str) -> str:
    """What an aspect is searched with: joined to the question, so that it stays on the topic.

    Source: RichRAG (arXiv 2406.12566), section 3.3.
    """
    return f"{question} {aspect}".strip()


def features(
    question: str, aspects: Sequence[str], pool: Sequence[Candidate], vectors: Vectors, retriever: object = None
) -> Features:
    """What the network sees; only passages that neither ``vectors`` nor the retriever's index knows are encoded."""
    asked = vectors.queries([question, *(query(question, aspect) for aspect in aspects)])
    places = [[1 / c.ranks[aspect] if aspect in c.ranks else 0.0 for c in pool] for aspect in aspects]
    return Features(
        question=asked[0],
        aspects=asked[1:],
        passages=vectors.passages([c.passage for c in pool], retriever),
        places=np.array(places, dtype=np.float32).reshape(len(aspects), len(pool)),
        place=np.array([1 / c.ranks[QUESTION] if QUESTION in c.ranks else 0.0 for c in pool], dtype=np.float32),
        lengths=np.log1p(np.array([half_words(c.passage.contents) / 2 for c in pool], dtype=np.float32)),
    )
