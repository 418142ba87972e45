"""Local files of a benchmark: which layout they are in is seen from what is there."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ...errors import AspectragError
from ..duplicates import fingerprint
from ..passages import Passage
from .benchmark import Benchmark
from .files import Placed, read_records, suffix_of
from .releases import SPLITS, NoSplitError
from .retrieval_sets import beir, is_beir, is_trec, named, tokens, trec
from .wikipassageqa import collection, documents

# A part of a split, as hubs number them.
_SHARD = re.compile(r"-\d{5}-of-\d{5}\.")
# What lies beside questions without being questions.
_NOT_QUESTIONS = {"corpus", "qrels", "collection", "document", "pool", "passages"}


@dataclass(frozen=True)
class Layout:
    """What was found.

    Attributes:
        records: Raw records with their places.
        source: The file or folder that they are in.
        corpus: A file of passages in JSON lines, where there is one.
        passages: The passages of a collection in another form.
    """

    records: Iterable[Placed]
    source: Path
    corpus: Path | None = None
    passages: Iterable[Passage] = ()


def find_layout(benchmark: Benchmark, path: Path, split: str) -> Layout:
    """Recognise the layout of a file, or of a folder and the files of a split in it.

    Known are: files of records, one for each split (``dev.jsonl``, ``hotpot_dev_distractor_v1.json``, ``valid.csv``,
    …) or one for all; a BEIR folder; queries with TREC qrels and a collection; a folder of JSON files with one record
    each, of which every second, by its name, belongs to ``tune``.

    Raises:
        AspectragError: There is nothing there, or it is none of these; says what is there.
    """
    if path.is_file():
        return Layout(read_records(path, split), path, named(path.parent, "corpus.jsonl"))
    if not path.is_dir():
        raise AspectragError(f"{path} does not exist: give a file or a folder with the questions of {benchmark.name}")
    if is_beir(path):
        records = beir(path, split, with_texts=benchmark.answers_in_corpus)
        return Layout(records, path, named(path, "corpus.jsonl"))
    if is_trec(path):
        records, passages = trec(path, split)
        return Layout(records, path, None, passages)
    return _folder(path, split)


def _folder(folder: Path, split: str) -> Layout:
    there = sorted(path for path in folder.iterdir() if path.is_file() and suffix_of(path))
    files = [path for path in there if not _NOT_QUESTIONS & set(tokens(path))]
    named_by_split = [path for path in files if _splits(path)]
    corpus = named(folder, "corpus.jsonl")
    if not named_by_split and len(files) > 1 and all(path.suffix == ".json" for path in files):
        return Layout(_one_each(files, split), folder, corpus)
    if not files and (folder / "json").is_dir():
        return _folder(folder / "json", split)
    parts = _of_split(folder, files, split)
    source = parts[0] if len(parts) == 1 else folder
    records = chain.from_iterable(read_records(path, split) for path in parts)
    if held := documents(folder):
        return Layout(_with_documents(records, held), source, corpus, collection(held))
    return Layout(records, source, corpus)


def _splits(path: Path) -> set[str]:
    words = set(tokens(path))
    return {split for split, names in SPLITS.items() if words & set(names)}


def _of_split(folder: Path, files: list[Path], split: str) -> list[Path]:
    """The file of a split, or the shards of one."""
    for alias in SPLITS[split]:
        fitting = [path for path in files if alias in tokens(path)]
        exact = [path for path in fitting if path.name == f"{alias}{suffix_of(path)}"]
        if len(exact or fitting) == 1:
            return exact or fitting
        if fitting and all(_SHARD.search(path.name) for path in fitting):
            return fitting
        if fitting:
            names = ", ".join(path.name for path in fitting)
            raise AspectragError(f"{folder} has several files of split {split}: {names}; give one of them")
    names = ", ".join(path.name for path in files) or "no file of questions"
    raise NoSplitError(f"{folder} has no file of split {split}: there is {names}; give the file itself")


def _one_each(files: list[Path], split: str) -> Iterator[Placed]:
    for path in files:
        if (fingerprint(path.name)[0] % 2 == 0) == (split == "tune"):
            yield from read_records(path, split)


def _with_documents(records: Iterable[Placed], held: dict[str, dict[str, str]]) -> Iterator[Placed]:
    for where, record in records:
        yield where, {**record, "passages": held.get(str(record.get("DocumentID")), {})}
