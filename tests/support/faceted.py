"""A little world to train rankers in: questions whose aspects are each answered by one passage among many."""

from collections.abc import Sequence
from hashlib import blake2b

import dspy
import numpy as np
from aspectrag.data.index.encoder import EncoderIdentity
from aspectrag.data.passages import Passage
from aspectrag.programs.rich_rag import RichRag, RichRagConfig
from fakes import ListRetriever, words

TOPICS = ("coal", "wind", "solar", "gas", "hydro", "peat", "tidal", "wood", "oil", "biogas")
ASPECTS = ("cost", "safety", "climate")


class WordEncoder:
    """Texts with words in common have vectors in common; counts what it is asked for."""

    def __init__(self, name: str = "words") -> None:
        self.identity = EncoderIdentity(name, weights=name)
        self.batches: list[int] = []

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._vector(text) for text in texts])

    def encode_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.batches.append(len(texts))
        return self.encode_queries(texts)

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(32, 1e-3, dtype=np.float32)
        for word in words(text):
            vector[blake2b(word.encode(), digest_size=1).digest()[0] % 32] += 1
        return vector


def facts(topic: str, aspect: str) -> str:
    return f"{topic} {aspect} detail alpha{aspect} beta{aspect} gamma{aspect}"


def passages() -> list[Passage]:
    """For each topic one passage per aspect that says it all, and more that only repeat the words of the query."""
    made = []
    for topic in TOPICS:
        for aspect in ASPECTS:
            made.append(Passage(f"{topic}-{aspect}-good", "", facts(topic, aspect) + "."))
            made += [Passage(f"{topic}-{aspect}-{n}", "", f"{topic} {aspect} as said {n}.") for n in range(6)]
    return made


def examples() -> list[dspy.Example]:
    return [
        dspy.Example(
            id=topic,
            question=f"What about {topic}?",
            aspects=list(ASPECTS),
            sub_answers=[facts(topic, aspect) for aspect in ASPECTS],
            answers=[" ".join(facts(topic, aspect) for aspect in ASPECTS)],
        ).with_inputs("question")
        for topic in TOPICS
    ]


def program() -> RichRag:
    return RichRag(RichRagConfig(k=3, per_query=21, pool=21), ListRetriever(passages()))
