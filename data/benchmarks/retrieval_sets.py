"""Sets made for retrieval, as folders: BEIR's, and queries with TREC qrels and a collection, as ANTIQUE's."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import AspectragError
from ..passages import Passage
from .fields import whole
from .files import Placed, read_lines
from .releases import SPLITS

Judgements = dict[str, dict[str, int]]
_PLAIN = (".tsv", ".txt", ".qrel", ".qrels")


def named(folder: Path, name: str) -> Path | None:
    """The file of a name, plain or gzipped."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def tokens(path: Path) -> list[str]:
    """The words of a file's name, in lower case.

    Example:
        >>> tokens(Path("hotpot_dev_distractor_v1.json"))
        ['hotpot', 'dev', 'distractor', 'v1', 'json']
    """
    return re.findall(r"[a-z0-9]+", path.name.lower())


def is_beir(folder: Path) -> bool:
    """Whether the folder has queries and qrels as BEIR lays them out."""
    return named(folder, "queries.jsonl") is not None and (folder / "qrels").is_dir()


def beir(folder: Path, split: str, *, with_texts: bool) -> Iterator[Placed]:
    """Yield the judged queries of a split of a BEIR folder, in the order of ``queries.jsonl``.

    Args:
        folder: Has ``queries.jsonl``, ``qrels/<split>.tsv`` and ``corpus.jsonl``, jsonl gzipped or not.
        split: Ours.
        with_texts: Put the texts of judged passages beside their grades: they are the answers.

    Raises:
        AspectragError: A file is missing or broken.
    """
    qrels = next((path for alias in SPLITS[split] if (path := folder / "qrels" / f"{alias}.tsv").is_file()), None)
    queries = named(folder, "queries.jsonl")
    if qrels is None or queries is None:
        there = ", ".join(sorted(path.name for path in (folder / "qrels").iterdir())) or "nothing"
        raise AspectragError(f"{folder / 'qrels'} has no file of split {split} ({SPLITS[split][0]}.tsv …): {there}")
    judged = _judgements(qrels, {"query-id": 0, "corpus-id": 1, "score": 2})
    bodies = _texts(folder, {key for grades in judged.values() for key in grades}) if with_texts else {}
    asked = (
        (where, str(_of(query, "_id", where)), _of(query, "text", where), query.get("metadata"))
        for where, query in read_lines(queries)
    )
    yield from _judged(asked, judged, bodies.get)


def is_trec(folder: Path) -> bool:
    """Whether the folder has queries and qrels in plain lines."""
    return bool(_plain(folder, "queries")) and bool(_plain(folder, "qrel", "qrels"))


def trec(folder: Path, split: str) -> tuple[Iterator[Placed], list[Passage]]:
    """The judged queries of a split, and the collection.

    Queries and collection are lines of an id, a tab and a text; qrels are lines ``query-id, iteration, id, grade``.

    Raises:
        AspectragError: A file is missing or broken.
    """
    queries, qrels = _of_split(folder, split, "queries"), _of_split(folder, split, "qrel", "qrels")
    found = _plain(folder, "collection", "corpus")
    collection = [Passage(key, "", body) for _, key, body in _pairs(found[0])] if found else []
    by_id = {passage.id: passage.text for passage in collection}
    asked = ((where, key, body, None) for where, key, body in _pairs(queries))
    return _judged(asked, _judgements(qrels, None), by_id.get), collection


def _judged(
    asked: Iterable[tuple[str, str, str, Any]], judged: Judgements, text_of: Callable[[str], str | None]
) -> Iterator[Placed]:
    lowest = min((grade for grades in judged.values() for grade in grades.values()), default=0)
    for where, key, body, metadata in asked:
        if key in judged:
            passages = [{"id": one, "label": grade, "text": text_of(one)} for one, grade in judged[key].items()]
            yield where, {"id": key, "question": body, "judged": passages, "lowest": lowest, "metadata": metadata}


def _judgements(path: Path, columns: Mapping[str, int] | None) -> Judgements:
    judged: Judgements = {}
    for number, line in _lines(path):
        fields = line.split("\t") if columns and "\t" in line else line.split()
        if columns and number == 1 and fields[-1] == "score":
            continue
        try:
            query, passage, grade = fields if columns else (fields[0], fields[2], fields[3])
            judged.setdefault(query, {})[passage] = whole(grade, "grade")
        except (ValueError, IndexError):
            form = "query-id, corpus-id, score" if columns else "query-id, iteration, passage-id, grade"
            raise AspectragError(f"{path}, line {number} is no judgement: {form}") from None
    if not judged:
        raise AspectragError(f"{path} is empty: no query has a judgement")
    return judged


def _texts(folder: Path, wanted: set[str]) -> dict[str, str]:
    corpus = named(folder, "corpus.jsonl")
    if corpus is None:
        return {}
    found = ((str(_of(record, "_id", where)), _of(record, "text", where)) for where, record in read_lines(corpus))
    return {key: body for key, body in found if key in wanted}


def _of(record: Mapping[str, Any], name: str, where: str) -> Any:
    value = record.get(name, record.get(name.removeprefix("_")))
    if value is None:
        raise AspectragError(f'{where} has no "{name}" (its keys: {", ".join(list(record)[:8])})')
    return value


def _plain(folder: Path, *words: str) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in _PLAIN and set(words) & set(tokens(path)))


def _of_split(folder: Path, split: str, *words: str) -> Path:
    found = _plain(folder, *words)
    for alias in SPLITS[split]:
        if fitting := [path for path in found if alias in tokens(path)]:
            return fitting[0]
    if len(found) == 1 and not any(alias in tokens(found[0]) for names in SPLITS.values() for alias in names):
        return found[0]
    raise AspectragError(f"{folder} has no {words[0]} of split {split}: {', '.join(path.name for path in found)}")


def _pairs(path: Path) -> Iterator[tuple[str, str, str]]:
    for number, line in _lines(path):
        key, tab, body = line.partition("\t")
        if not tab or not key.strip():
            raise AspectragError(f"{path}, line {number} is not an id, a tab and a text")
        if body.strip():
            yield f"{path}, line {number}", key.strip(), body.strip()


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except UnicodeDecodeError:
        raise AspectragError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise AspectragError(f"{path} cannot be read ({error.strerror or error})") from None
