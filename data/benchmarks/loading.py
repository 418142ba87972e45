"""The one door for questions: from the name of a benchmark to its questions and passages."""

import hashlib
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import islice
from pathlib import Path

import dspy
import ujson

from ... import data
from ...errors import AspectragError
from ..duplicates import fingerprint
from ..passages import Passage
from .benchmark import Benchmark
from .fields import MISFITS, Record, RecordError, misfit
from .files import Placed
from .hub import address, from_hub
from .layouts import Layout, find_layout
from .records import flashrag_passages, is_own, read_flashrag, read_judged, read_own
from .registry import BENCHMARKS, benchmark
from .releases import SPLITS
from .store import fetched


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a split of a benchmark.

    Attributes:
        benchmark: The benchmark.
        split: ``tune`` or ``dev``.
        questions: In the order of their source; see :func:`.benchmark.question`.
        corpus: A file of passages; the passages that came with the records; or ``None``.
        source: Where they are from.
        digest: Of ids, questions and answers: it changes with the data, and with the sample.
    """

    benchmark: Benchmark
    split: str
    questions: tuple[dspy.Example, ...]
    corpus: Path | tuple[Passage, ...] | None
    source: str
    digest: str

    def __len__(self) -> int:
        return len(self.questions)


def load(
    name: str,
    split: str = "dev",
    path: str | Path | None = None,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: str | Path | None = None,
) -> QuestionSet:
    """Load a benchmark from local files, from what was fetched, or from the hub.

    Args:
        name: A key of :data:`.registry.BENCHMARKS`.
        split: ``tune``, to learn from, or ``dev``, to measure on.
        path: A file or folder with its data, in any of the layouts of :func:`.layouts.find_layout`.
        limit: A random sample of so many questions, in their order; all passages stay.
        seed: Which sample.
        store: Folder of benchmarks, each in a folder of its name (``-`` or ``_``), looked at where there is no
            ``path``; by default the one that ``aspectrag data fetch`` writes to.

    Raises:
        AspectragError: There is no such benchmark or split, or its data cannot be had or read.

    Example:
        >>> demo = load("demo", limit=2)
        >>> len(demo), demo.questions[0].route
        (2, 'single-step')
    """
    chosen = benchmark(name)
    if split not in SPLITS:
        raise AspectragError(f"there is no split {split!r}: choose {' or '.join(SPLITS)}")
    if path is None and name == "demo":
        path = Path(str(files(data))) / "demo"
        found = find_layout(chosen, path / "questions.jsonl", split)
        # It has no splits of its own, and questions of a kind stand together: every second one is in either.
        found = replace(found, records=islice(found.records, split == "dev", None, 2))
    elif path is None and (path := _stored(Path(store) if store else fetched(), name)) is None:
        return _assembled(chosen, split, from_hub(chosen, split), f"hub:{address(chosen, split)}", None, limit, seed)
    else:
        found = find_layout(chosen, Path(path).expanduser(), split)
    return _of_layout(chosen, split, found, limit, seed)


def _stored(store: Path, name: str) -> Path | None:
    """The folder of a benchmark among others."""
    spellings = (name, name.replace("-", "_"))
    return next((folder for each in spellings if (folder := store / each).is_dir()), None)


def convert(chosen: Benchmark, record: Record) -> dspy.Example | None:
    """Read a record in whichever schema it is: the library's own, FlashRAG's, with judgements, or as published.

    Raises:
        RecordError: It is none of these.
    """
    named = str(record.get("dataset") or "").replace("_", "-")
    if named != chosen.name and named in BENCHMARKS and is_own(record):
        raise RecordError(f"it belongs to {named}, not to {chosen.name}")
    if "golden_answers" in record:
        example = read_flashrag(record, chosen.name)
    elif "judged" in record:
        example = chosen.read(record) if chosen.answers_in_corpus else read_judged(record)
    else:
        example = read_own(record) if is_own(record) else chosen.read(record)
    if example is None:
        return None
    # Tables are split by these fields, wherever the record has them.
    for category in chosen.categories:
        if category not in example:
            example[category] = record.get(category, example.meta.get(category, ""))
    return example


def passages_of(chosen: Benchmark, record: Record) -> Iterable[Passage]:
    """The passages that come with a record, in its schema."""
    if "golden_answers" in record:
        return flashrag_passages(record, chosen.name)
    if chosen.passages is None or is_own(record) or "judged" in record:
        return ()
    return chosen.passages(record)


def read_all(
    chosen: Benchmark, split: str, records: Iterable[Placed], source: str
) -> tuple[list[dspy.Example], list[Passage]]:
    """Read placed records into questions and passages, each passage once.

    Raises:
        AspectragError: A record is none of the benchmark's, an id is there twice, or there is no question.
    """
    questions: dict[str, dspy.Example] = {}
    places: dict[str, str] = {}
    passages: dict[str, Passage] = {}
    for where, record in records:
        try:
            example = convert(chosen, record)
            passages.update((passage.id, passage) for passage in passages_of(chosen, record))
        except MISFITS as error:
            raise AspectragError(f"{where} is no record of {chosen.name}: {misfit(error)}") from None
        if example is None:
            continue
        if not example.id:
            example["id"] = _made_id(example, chosen, questions)
        elif example.id in places:
            raise AspectragError(f"{where}: the id {example.id!r} is that of {places[example.id]} too")
        questions[example.id], places[example.id] = example, where
    if not questions:
        raise AspectragError(
            f"{source} holds no question of {chosen.name}, split {split}: is it empty, or another set?"
        )
    return list(questions.values()), list(passages.values())


def overlap(some: Iterable[dspy.Example], others: Iterable[dspy.Example]) -> dict[str, str]:
    """Ids of questions that are asked in both sets, in other capitals or punctuation too: splits must share none.

    Example:
        >>> a, b = dspy.Example(id="1", question="Who won?"), dspy.Example(id="7", question="who won")
        >>> overlap([a], [b])
        {'1': '7'}
    """
    asked = {_plain(other.question): other.id for other in others}
    return {one.id: asked[plain] for one in some if (plain := _plain(one.question)) in asked}


def _of_layout(chosen: Benchmark, split: str, found: Layout, limit: int | None, seed: int) -> QuestionSet:
    # Passages that came with the records are those whose ids the questions name: a corpus beside them may be another.
    made = _assembled(chosen, split, found.records, str(found.source), found.corpus, limit, seed)
    if made.corpus is None and (passages := tuple(found.passages)):
        made = replace(made, corpus=passages)
    return made


def _assembled(
    chosen: Benchmark,
    split: str,
    records: Iterable[Placed],
    source: str,
    corpus: Path | None,
    limit: int | None,
    seed: int,
) -> QuestionSet:
    if limit is not None and limit < 1:
        raise AspectragError(f"a sample of {limit} questions is none: give 1 or more")
    questions, passages = read_all(chosen, split, records, source)
    if limit is not None and limit < len(questions):
        kept = sorted(random.Random(seed).sample(range(len(questions)), limit))
        questions = [questions[place] for place in kept]
    return QuestionSet(chosen, split, tuple(questions), tuple(passages) or corpus, source, _digest(questions))


def _digest(questions: Iterable[dspy.Example]) -> str:
    digest = hashlib.sha256()
    for one in questions:
        digest.update(ujson.dumps([one.id, one.question, one.answers], escape_forward_slashes=False).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def _made_id(example: dspy.Example, chosen: Benchmark, taken: dict[str, dspy.Example]) -> str:
    """An id for a record without one. Not the number of its line: that would change with the file."""
    base = f"{chosen.name}:{fingerprint(f'{example.question} {example.answers} {example.type}').hex()[:12]}"
    return next(made for n in range(1, len(taken) + 2) if (made := f"{base}#{n}" if n > 1 else base) not in taken)


def _plain(asked: str) -> str:
    return " ".join(re.findall(r"\w+", asked.casefold()))
