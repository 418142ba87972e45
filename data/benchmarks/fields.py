"""Taking fields out of published records, with an error that says which is missing or of the wrong kind."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import ujson

from ..chunking import chunk
from ..duplicates import fingerprint
from ..passages import Passage

Record = Mapping[str, Any]
_LISTED = 8


class RecordError(ValueError):
    """A record is none of the schema; the message says why, for whoever knows the file and the line."""


# What reading a record of another schema may raise.
MISFITS = (RecordError, KeyError, TypeError, AttributeError, ValueError, OverflowError)


def misfit(error: Exception) -> str:
    """Why a record could not be read, given one of :data:`MISFITS`."""
    return str(error) if isinstance(error, RecordError) else f"it is of another schema ({type(error).__name__})"


def field(record: Record, *names: str) -> Any:
    """The first of the fields that the record has.

    Raises:
        RecordError: It has none of them.

    Example:
        >>> field({"_id": "5a8b", "question": "Why?"}, "id", "_id")
        '5a8b'
    """
    for name in names:
        if record.get(name) is not None:
            return record[name]
    wanted = " or ".join(f'"{name}"' for name in names)
    keys = ", ".join(map(str, list(record)[:_LISTED])) or "none"
    raise RecordError(f"no {wanted} (its keys: {keys})")


def text(record: Record, *names: str) -> str:
    """The first of the fields that the record has, a text with something in it; numbers are written out.

    Raises:
        RecordError: There is none, or it is no text, or it is blank.
    """
    value = field(record, *names)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RecordError(f'"{_present(record, names)}" is a {type(value).__name__}, not a text')
    if not str(value).strip():
        raise RecordError(f'"{_present(record, names)}" is blank')
    return str(value)


def identity(record: Record, *names: str) -> str:
    """The id of a record, "" where it has none: then it gets one from what it says."""
    value = next((record[name] for name in names or ("id", "_id") if record.get(name) not in (None, "")), "")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RecordError(f"its id is a {type(value).__name__}, neither a text nor a number")
    return str(value)


def number(value: Any, name: str) -> int | float:
    """A finite number: no metric can do anything with the infinite ones that JSON readers let pass.

    Raises:
        RecordError: It is none.
    """
    with suppress(OverflowError):  # a whole number beyond all others
        if not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value):
            return value
    raise RecordError(f'"{name}" is no finite number')


def whole(value: Any, name: str) -> int:
    """A whole number, also where it is written as a text: a grade.

    Raises:
        RecordError: It is none.

    Example:
        >>> whole("2", "label"), whole(1.0, "label")
        (2, 1)
    """
    with suppress(ValueError):
        value = float(value) if isinstance(value, str) else value
    if int(found := number(value, name)) != found:
        raise RecordError(f'"{name}" is no whole number')
    return int(found)


def texts(value: Any, name: str) -> list[str]:
    """A text, or a list of texts and numbers, as a list without blanks and repetitions.

    Raises:
        RecordError: It is neither.

    Example:
        >>> texts("1651", "answer"), texts(["Gdynia", "", 1926, "Gdynia"], "answer")
        (['1651'], ['Gdynia', '1926'])
    """
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence) or any(
        isinstance(one, bool) or not isinstance(one, str | int | float) for one in value
    ):
        raise RecordError(f'"{name}" is not a list of texts')
    return list(dict.fromkeys(str(one) for one in value if str(one).strip()))


def answers(value: Any) -> list[str]:
    """An answer of any kind as texts: lists item by item, records as ``name: value``, verdicts as yes and no.

    Example:
        >>> answers([True, {"Oder": 854, "Neisse": [252, 254]}])
        ['yes', 'Oder: 854', 'Neisse: 252, 254']
    """
    if isinstance(value, Mapping):
        return [f"{name}: {', '.join(answers(one))}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        return [said for one in value for said in answers(one)]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return texts([] if value is None else [value], "answer")


def rows(value: Any, name: str) -> list[dict[str, Any]]:
    """A list of records, also where it was turned into a record of lists, as hubs keep them.

    Raises:
        RecordError: It is neither.

    Example:
        >>> rows({"title": ["Oder", "Neisse"], "sent_id": [0, 2]}, "supporting_facts")
        [{'title': 'Oder', 'sent_id': 0}, {'title': 'Neisse', 'sent_id': 2}]
    """
    if isinstance(value, Mapping) and all(
        isinstance(column, Sequence) and not isinstance(column, str) for column in value.values()
    ):
        if len({len(column) for column in value.values()}) > 1:
            raise RecordError(f'"{name}" has lists of different lengths')
        value = [dict(zip(value, line, strict=True)) for line in zip(*value.values(), strict=True)]
    if not isinstance(value, Sequence) or not all(isinstance(row, Mapping) for row in value):
        raise RecordError(f'"{name}" is not a list of records')
    return [dict(row) for row in value]


def pairs(value: Any, name: str, left: str, right: str) -> list[tuple[Any, Any]]:
    """Pairs in any of the forms in which they are published: lists of two, a record of lists, either of them as JSON.

    Raises:
        RecordError: It is none of these.

    Example:
        >>> pairs('[["Oder", 0]]', "supporting_facts", "title", "sent_id")
        [('Oder', 0)]
    """
    try:
        value = ujson.loads(value) if isinstance(value, str) else value
        if isinstance(value, Mapping):
            return list(zip(value[left], value[right], strict=True))
        return [(one[left], one[right]) if isinstance(one, Mapping) else (one[0], one[1]) for one in value]
    except (ValueError, KeyError, IndexError, TypeError):
        raise RecordError(f'"{name}" is not a list of pairs of {left} and {right}') from None


def passage(prefix: str, title: str, body: str) -> Passage:
    """A passage that came with a question; its id follows from what it says, so the same one is found again.

    Example:
        >>> passage("squad", "Oder", "A river.").id
        'squad:81134c8e72cb'
    """
    made = Passage("", title.strip(), body.strip())
    return Passage(f"{prefix}:{fingerprint(made.contents).hex()[:12]}", made.title, made.text)


def cut(prefix: str, title: str, bodies: Iterable[str]) -> list[Passage]:
    """Passages of about 100 words of longer texts."""
    whole = [passage(prefix, title, body) for body in bodies if body.strip()]
    return list(chunk(whole, words=100, overlap=0))


def _present(record: Record, names: Sequence[str]) -> str:
    return next(name for name in names if record.get(name) is not None)
