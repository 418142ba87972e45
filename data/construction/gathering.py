"""Questions of several benchmarks to learn from, beside those kept to measure on, with nothing shared between them."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import dspy

from ...errors import AspectragError
from ..benchmarks.loading import load
from ..benchmarks.registry import BENCHMARKS
from ..corpus import load_corpus
from ..index import build
from ..index.retriever import Retriever
from ..passages import Passage
from .hops import followed
from .revelator import route_of
from .splitting import apart, marks
from .twins import renamed, twins

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measured:
    """What is measured on, in whatever benchmark.

    Attributes:
        questions: Of the splits ``dev``, with ids that are unique over all sets.
        passages: Those that support them, by id.
    """

    questions: list[dspy.Example]
    passages: dict[str, Passage]


@dataclass(frozen=True)
class Gathered:
    """Questions with ids that are unique over all sets, and the passages that they refer to.

    Attributes:
        learn: Of the split ``tune``; none shares a question, part or supporting passage with one of ``measure``.
        measure: Of the split ``dev``, where that was asked for, and the others that were to be kept apart from.
        passages: By id; each text is there once.
        left_out: How many of ``tune`` were not taken because they share something.
    """

    learn: list[dspy.Example]
    measure: list[dspy.Example]
    passages: dict[str, Passage]
    left_out: int


def measured(sets: Sequence[str], store: Path) -> Measured:
    """The split ``dev`` of benchmarks, and of all others that the store has; what cannot be had is warned of.

    Args:
        sets: Names of benchmarks that are fetched where the store lacks them.
        store: Folder with a folder for each.

    Raises:
        AspectragError: The store has one that cannot be read.
    """
    questions: list[dspy.Example] = []
    passages: dict[str, Passage] = {}
    for name in dict.fromkeys([*sets, *BENCHMARKS]):
        own = [folder for each in (name, name.replace("-", "_")) if (folder := store / each).is_dir()]
        if name not in sets and not own:
            continue
        try:
            loaded = load(name, "dev", store=store)
        except AspectragError as error:
            if any(file.is_file() for folder in own for file in folder.glob("dev.*")):
                raise
            logger.warning("what is learnt may share something with the split dev of %s: %s", name, error)
            continue
        found = [_own(name, question) for question in loaded.questions]
        supporting = {known for question in found for kind, known in marks(question) if kind == "passage"}
        questions += found
        passages |= {known: each for known, each in _held(loaded.corpus or ()).items() if known in supporting}
    return Measured(questions, passages)


def gathered(sets: Sequence[str], store: Path, *, beside_dev: bool = True, others: Measured | None = None) -> Gathered:
    """Load benchmarks, and keep what is learnt from apart from what is measured on.

    Args:
        sets: Names of benchmarks whose questions say how they are looked up.
        store: Folder with a folder for each, looked at before the hub.
        beside_dev: Whether the split ``dev`` is kept to measure on.
        others: What is kept apart from too, to the articles of its passages.

    Raises:
        AspectragError: A set cannot be had, does not say how its questions are looked up, or nothing is left.
    """
    learn: list[dspy.Example] = []
    measure: list[dspy.Example] = []
    passages: dict[str, Passage] = {}
    for name in dict.fromkeys(sets):
        for split, where in (("tune", learn), ("dev", measure)):
            if split == "tune" or beside_dev:
                loaded = load(name, split, store=store)
                where += [_own(name, question) for question in loaded.questions]
                passages |= _held(loaded.corpus or ())
        if route_of(learn[-1]) is None:
            raise AspectragError(f"{name} does not say how its questions are looked up (hops): leave it out")
    if others is not None:
        measure += others.questions
        passages |= others.passages
    names = twins(passages.values())
    learn, measure = ([renamed(question, names) for question in each] for each in (learn, measure))
    kept = apart(learn, measure, titles=others is not None)
    if not kept:
        raise AspectragError("every question shares something with the split dev: nothing is left to learn from")
    held = {known: passage for known, passage in passages.items() if known not in names}
    return Gathered(kept, measure, held, len(learn) - len(kept))


@contextmanager
def indexed(passages: dict[str, Passage]) -> Iterator[Retriever]:
    """A BM25 index of passages, for the time of a block."""
    with TemporaryDirectory() as place:
        yield build(passages.values(), Path(place) / "index", "bm25", progress=False)


def _held(corpus: Path | Sequence[Passage]) -> dict[str, Passage]:
    return {passage.id: passage for passage in (load_corpus(corpus) if isinstance(corpus, Path) else corpus)}


def _own(name: str, question: dspy.Example) -> dspy.Example:
    """The question with an id that no other set has, and its hops as they are asked."""
    identity = str(question.id)
    return followed(question.copy(id=identity if identity.startswith(name) else f"{name}:{identity}"))
