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

    The answer to a sub-question has no list of its citations: they point into its own passages.

    Example:
        >>> record = {"answer": "So [1, 9].", "citations": [{"number": 1, "passage_id": "a", "title": ""}]}
        >>> list(linked(record))
        [('So ', None), ('[', None), ('1', 1), (', ', None), ('9', None), (']', None), ('.', None)]
        >>> list(linked({"question": "So?", "answer": "So [2]", "passages": ["a", "b"]}))[2]
        ('2', 2)
    """
    if "citations" in record or "question" not in record:
        numbers = [citation["number"] for citation in record.get("citations") or []]
    else:
        numbers = range(1, len(record.get("passages") or []) + 1)
    known = {str(number): number for number in numbers}
    for piece in _MARK.split(record.get("answer") or ""):
        if _MARK.fullmatch(piece):
            yield from ((part, known.get(part)) for part in _NUMBER.split(piece) if part)
        elif piece:
            yield piece, None


def question_of(row: Row | None) -> str | None:
    """The question that a program was asked; ``None`` where the row is none of a program."""
    inputs = row.parts.get("inputs") if row and row.kind == "program" else None
    asked = inputs.get("question") if isinstance(inputs, Mapping) else None
    return asked if isinstance(asked, str) else None


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
        and all(_is_part(each) for each in value.get("sub_questions") or [])
    )


def _is_part(value: Mapping[str, Any]) -> bool:
    return isinstance(value["answer"], str | None) and _all_have(value.get("passages") or [], _LISTS["passages"])


def _all_have(items: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(items, list) and all(isinstance(i, Mapping) and all(k in i for k in keys) for i in items)
