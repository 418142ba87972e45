"""What official releases wrap their records in, told apart by its keys."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import AspectragError

# Ours first, then as others name them, in the order in which they are looked for.
SPLITS = {"tune": ("tune", "train", "training"), "dev": ("dev", "validation", "valid", "val", "test")}


class NoSplitError(AspectragError):
    """The data are there, and have no such split."""


def unwrapped(document: Any, split: str, where: str) -> Iterator[Any]:
    """Yield the records of a JSON document.

    A list is its records. ``{"data": [...]}`` (SQuAD) and ``{"Data": [...]}`` (TriviaQA) hold a list, articles with
    paragraphs are taken apart into questions; ``{"train": {id: record}, "dev": ...}`` (ASQA) holds all splits.

    Raises:
        AspectragError: It is none of these, or has no such split.

    Example:
        >>> list(unwrapped({"train": {}, "dev": {"7": {"question": "Why?"}}}, "dev", "a.json"))
        [{'question': 'Why?', 'id': '7'}]
    """
    if isinstance(document, Mapping):
        document = _inner(document, split, where)
    if not isinstance(document, list):
        raise AspectragError(f"{where} is neither a list of records nor a record but a {type(document).__name__}")
    for record in document:
        if isinstance(record, Mapping) and isinstance(record.get("paragraphs"), list) and "question" not in record:
            yield from _questions(record, where)
        else:
            yield record


def _inner(document: Mapping[str, Any], split: str, where: str) -> list[Any]:
    for name in ("data", "Data"):
        if isinstance(document.get(name), list):
            return document[name]
    names = {name for aliases in SPLITS.values() for name in aliases}
    if document and all(name in names for name in document):
        name = next((alias for alias in SPLITS[split] if alias in document), None)
        if name is None:
            raise NoSplitError(f"{where} has no split {split}: it has {', '.join(document)}")
        return _of_split(document[name], f"{where}, split {name}")
    return [document]  # a file of one record


def _of_split(held: Any, where: str) -> list[Any]:
    if isinstance(held, list):
        return held
    if not isinstance(held, Mapping):
        raise AspectragError(f"{where} holds neither a list nor a record of records but a {type(held).__name__}")
    for key, record in held.items():
        if not isinstance(record, Mapping):
            raise AspectragError(f"{where}: {key!r} is not a record but a {type(record).__name__}")
    return [{**record, "id": key} for key, record in held.items()]


def _questions(article: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    try:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                yield {"title": article.get("title", ""), "context": paragraph["context"], **asked}
    except (KeyError, TypeError):
        raise AspectragError(f"{where}: an article of it is none with paragraphs, each with context and qas") from None
