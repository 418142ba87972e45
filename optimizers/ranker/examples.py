"""What rankers are trained on: questions with their pools, and how much of each sub-answer each passage holds."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import dspy
import numpy as np
from tqdm.auto import tqdm

from ...errors import AspectragError
from ...programs.rankers.candidates import Candidate
from ...programs.rankers.features import Features, Vectors, features
from ...programs.rich_rag import RichRag
from ..metrics.div import div
from .coverage import Scores, coverage_scores


@dataclass(frozen=True)
class RankingExample:
    """A question ready for training.

    Attributes:
        example: Where it comes from.
        aspects: What was looked up, joined to the question.
        pool: What its aspects found.
        features: What the network sees of them.
        scores: How much of each sub-answer each candidate holds, ``[sub_answers, candidates]``.
    """

    example: dspy.Example
    aspects: tuple[str, ...]
    pool: tuple[Candidate, ...]
    features: Features
    scores: Scores

    def div(self, order: Sequence[int], k: int) -> float:
        """DIV of an order of its candidates; see :func:`...metrics.div.div`."""
        return div(self.scores, order, k)

    def sample(self, rng: np.random.Generator, most: int) -> "RankingExample":
        """Another question out of this one: some of its aspects, and some of its candidates, at most ``most``."""
        aspects, passages = self.scores.shape
        rows = np.sort(rng.permutation(aspects)[: rng.integers(1, aspects + 1)]) if aspects > 1 else np.arange(aspects)
        least = min(passages, max(2, min(passages, most) // 2))
        columns = np.sort(rng.permutation(passages)[: rng.integers(least, min(passages, most) + 1)])
        given = self.features
        # Explored aspects do not belong to single sub-answers: they all stay.
        known = rows if self.aspects == tuple(self.example.aspects) else np.arange(len(self.aspects))
        return replace(
            self,
            aspects=tuple(self.aspects[row] for row in known),
            pool=tuple(self.pool[column] for column in columns),
            features=Features(
                given.question, given.aspects[known], given.passages[columns], given.places[np.ix_(known, columns)],
                given.place[columns], given.lengths[columns],
            ),
            scores=self.scores[np.ix_(rows, columns)],
        )  # fmt: skip


def split(
    trainset: Sequence[dspy.Example], valset: Sequence[dspy.Example] | None, seed: int
) -> tuple[list[dspy.Example], list[dspy.Example]]:
    """The examples to train on, and those to validate on: a fifth of them where no others are given.

    Raises:
        AspectragError: There are too few.
    """
    if valset is not None:
        train, held_out = list(trainset), list(valset)
    else:
        order = np.random.default_rng(seed).permutation(len(trainset)).tolist()
        count = max(1, len(order) // 5)
        train, held_out = ([trainset[place] for place in part] for part in (order[count:], order[:count]))
    if not train or not held_out:
        raise AspectragError(
            f"{len(train)} examples to train on, {len(held_out)} to validate on: give at least one each"
        )
    return train, held_out


def prepare(
    program: RichRag, examples: Sequence[dspy.Example], vectors: Vectors, kept: Path, *, explored: bool, progress: bool
) -> list[RankingExample]:
    """Look up, encode and score the pools of all examples; what was done before is read from ``kept``.

    Examples whose pool is empty, or covers nothing of any sub-answer, teach nothing and are left out.

    Args:
        program: Its retriever finds the pools; its explorer the aspects where ``explored``.
        examples: With ``question``, ``aspects`` and ``sub_answers``.
        vectors: Encode questions, aspects and passages.
        kept: Folder of finished examples, one file each.
        explored: Whether aspects are explored by the language model instead of those annotated.
        progress: Whether to show a bar.

    Raises:
        AspectragError: An example lacks a field, or none teaches anything.
    """
    for number, example in enumerate(examples):
        if missing := [name for name in ("question", "aspects", "sub_answers") if not example.get(name)]:
            raise AspectragError(f"example {number} has no {' and no '.join(missing)}: see aspectrag.data.faceted")
    kept.mkdir(parents=True, exist_ok=True)

    def one(example: dspy.Example) -> RankingExample | None:
        aspects = program.explored(example.question) if explored else list(example.aspects)
        pool = tuple(program.pool(example.question, aspects))
        if not pool:
            return None
        file = kept / f"{_key(example, aspects, pool, vectors)}.npz"
        if not file.is_file():
            texts = [candidate.passage.contents for candidate in pool]
            seen = features(example.question, aspects, pool, vectors, program.retriever)
            scores = coverage_scores(example.sub_answers, texts)
            with (part := file.with_suffix(".part")).open("wb") as out:
                np.savez(
                    out, allow_pickle=False, scores=scores, **{f.name: getattr(seen, f.name) for f in fields(seen)}
                )
            part.replace(file)
        with np.load(file) as arrays:
            seen = Features(*(arrays[f.name] for f in fields(Features)))
            return (
                RankingExample(example, tuple(aspects), pool, seen, arrays["scores"])
                if arrays["scores"].any()
                else None
            )

    bar = tqdm(examples, "Pools", unit="question", disable=None if progress else True)
    ready = [made for example in bar if (made := one(example)) is not None]
    if not ready:
        raise AspectragError("no passage covers any sub-answer: is this the index that the examples were made for?")
    return ready


def _key(example: dspy.Example, aspects: Sequence[str], pool: Sequence[Candidate], vectors: Vectors) -> str:
    identity = vectors.encoder.identity
    parts = [
        example.question,
        *aspects,
        *example.sub_answers,
        identity.weights,
        identity.pooling,
        identity.query_prompt,
    ]
    parts += [f"{c.passage.contents} {sorted(c.ranks.items())}" for c in pool]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
