"""An answer with citations that lead to its passages."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .rows import Row

# A citation's brackets, bounded in length: an answer may hold a million of anything.
_MARK = re.compile(r"(\[[\d,; ]{1,300}\])")
_NUMBER = re.compile(r"(\d+)")
# Lists that a result may have, and what a view looks at in each of their items.
_LISTS = {
    "passages": ("id", "title", "text"),
    "citations": ("number",),
    "sub_questions": ("question", "answer"),
    "fallbacks": ("stage", "reason"),
}


def linked(record: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """The answer in pieces: text, and the numbers in it that point to a passage.

    Example:
        >>> record = {"answer": "So [1, 9].", "citations": [{"number": 1, "passage_id": "a", "title": ""}]}
        >>> list(linked(record))
        [('So ', None), ('[', None), ('1', 1), (', ', None), ('9', None), (']', None), ('.', None)]
    """
    known = {str(citation["number"]): citation["number"] for citation in record.get("citations") or []}
    for piece in _MARK.split(record.get("answer") or ""):
        if _MARK.fullmatch(piece):
            yield from ((part, known.get(part)) for part in _NUMBER.split(piece) if part)
        elif piece:
            yield piece, None


def result_of(row: Row) -> Mapping[str, Any] | None:
    """The JSON form of a program's result; ``None`` where there is none: what lies in a file may be anything.

    Example:
        >>> result_of(Row("program", "Rag", parts={"outputs": {"answer": "So.", "route": "rag"}}))
        {'answer': 'So.', 'route': 'rag'}
        >>> result_of(Row("program", "Rag", parts={"outputs": {"answer": ["So."]}}))
    """
    value = row.parts.get("outputs")
    return value if row.kind == "program" and _is_result(value) else None


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("answer"), str)
        and all(_all_have(value.get(name) or [], keys) for name, keys in _LISTS.items())
    )


def _all_have(items: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(items, list) and all(isinstance(i, Mapping) and all(k in i for k in keys) for i in items)
