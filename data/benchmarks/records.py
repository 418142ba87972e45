"""Records that do not belong to one benchmark: the library's own, FlashRAG's, and questions with judged passages."""

from collections.abc import Iterable, Mapping
from typing import Any

import dspy

from ..passages import Passage
from .benchmark import question
from .contexts import context_passages, supporting_titles
from .fields import Record, RecordError, answers, identity, number, rows, text, texts, whole

_OWN = ("id", "question", "answers", "type", "hops", "supporting_ids", "supporting_titles", "sub_questions")
_OWN_TOO = ("references", "qrels", "meta")


def is_own(record: Record) -> bool:
    """Whether it is a record of the library: a question with a list of answers.

    Example:
        >>> is_own({"question": "Why?", "answers": []}), is_own({"question": "Why?", "answers": {"text": ["so"]}})
        (True, False)
    """
    answers = record.get("answers")
    texts_only = isinstance(answers, list) and all(isinstance(answer, str) for answer in answers)
    # An empty list beside a context is SQuAD's: the question has no answer there.
    return "question" in record and texts_only and bool(answers or "context" not in record)


def read_own(record: Record) -> dspy.Example:
    """Read ``{"id", "question", "answers", ...}``, with the fields of :func:`.benchmark.question`.

    Other fields go to ``meta``. ``meta.references`` are the references where the record has none at its top.

    Raises:
        RecordError: A field is of the wrong kind.
    """
    meta = _mapping(record, "meta")
    references = record.get("references") or meta.pop("references", ())
    hops = record.get("hops")
    if isinstance(hops, bool) or not isinstance(hops, int | None):
        raise RecordError('"hops" is no whole number')
    more = {key: value for key, value in record.items() if key not in _OWN + _OWN_TOO}
    return question(
        identity(record),
        text(record, "question"),
        texts(record.get("answers") or (), "answers"),
        type=str(record.get("type") or ""),
        hops=hops,
        supporting_ids=texts(record.get("supporting_ids") or (), "supporting_ids"),
        supporting_titles=texts(record.get("supporting_titles") or (), "supporting_titles"),
        sub_questions=[_sub_question(part) for part in rows(record.get("sub_questions") or (), "sub_questions")],
        references=[_reference(one) for one in rows(references, "references")],
        qrels=_qrels(record["qrels"]) if record.get("qrels") else None,
        meta=more | meta,
    )


def to_own(example: dspy.Example) -> dict[str, Any]:
    """The record that :func:`read_own` reads the question back from."""
    return {key: example[key] for key in _OWN + _OWN_TOO}


def read_flashrag(record: Record, prefix: str) -> dspy.Example:
    """Read ``{"id", "question", "golden_answers", "metadata"}``; ``meta_data``, as others write it, does too.

    What multi-hop sets have in their metadata (type, supporting facts, decomposition) is found there; ids of their
    passages begin with ``prefix``.

    Raises:
        RecordError: A field is missing or of the wrong kind.
    """
    meta = _mapping(record, "metadata") or _mapping(record, "meta_data")
    parts = rows(meta.get("question_decomposition") or (), "question_decomposition")
    supporting = supporting_titles(meta)
    held = [passage.id for passage in flashrag_passages(record, prefix) if passage.title in set(supporting)]
    kept = {key: value for key, value in meta.items() if key not in ("context", "type", "paragraphs")}
    return question(
        identity(record),
        text(record, "question"),
        texts(record["golden_answers"], "golden_answers"),
        type=str(meta.get("type") or ""),
        hops=len(parts) or None,
        supporting_titles=supporting,
        supporting_ids=held,
        sub_questions=[
            {"question": text(part, "question"), "answers": texts(part.get("answer") or (), "answer")} for part in parts
        ],
        meta=kept,
    )


def flashrag_passages(record: Record, prefix: str) -> Iterable[Passage]:
    """The passages in the metadata of a FlashRAG record, where there are any."""
    meta = _mapping(record, "metadata") or _mapping(record, "meta_data")
    return context_passages(prefix, meta) if meta.get("context") else ()


def read_judged(record: Record, *, lowest: int | None = None) -> dspy.Example:
    """Read ``{"id", "question", "judged": [{"id", "label", "text"}]}``: a query of a retrieval set and its judgements.

    Args:
        record: The record; ``text`` of what was judged where the passages are answers.
        lowest: The label of a passage that is worth nothing; where it is given, passages with a text are references.

    Raises:
        RecordError: A field is of the wrong kind.
    """
    judged = rows(record["judged"], "judged")
    grades = {str(one["id"]): whole(one["label"], "label") - (lowest or 0) for one in judged}
    worth = [{"text": said, "label": grades[str(one["id"])]} for one in judged if (said := _body(one))]
    worth.sort(key=lambda one: -one["label"])
    references = worth if lowest is not None else []
    best = max((one["label"] for one in references), default=0)
    relevant = [identity for identity, grade in grades.items() if grade > 0]
    return question(
        identity(record),
        text(record, "question"),
        list(dict.fromkeys(one["text"] for one in references if one["label"] == best > 0)),
        type="non-factoid" if references else "",
        supporting_ids=relevant,
        references=references,
        qrels=grades,
        meta=_mapping(record, "metadata"),
    )


def _mapping(record: Record, name: str) -> dict[str, Any]:
    value = record.get(name) or {}
    if not isinstance(value, Mapping):
        raise RecordError(f'"{name}" is not a record')
    return dict(value)


def _sub_question(part: dict[str, Any]) -> dict[str, Any]:
    return part | {"question": text(part, "question"), "answers": answers(part.get("answers"))}


def _body(judged: dict[str, Any]) -> str:
    body = judged.get("text")
    if not isinstance(body, str | None):
        raise RecordError(f'"text" of what was judged is a {type(body).__name__}, not a text')
    return body or ""


def _reference(one: dict[str, Any]) -> dict[str, Any]:
    number(one.get("label"), "references.label")
    return one | {"text": text(one, "text")}


def _qrels(value: Any) -> dict[str, int]:
    try:
        return {str(identity): whole(grade, "qrels") for identity, grade in value.items()}
    except (AttributeError, RecordError):
        raise RecordError('"qrels" is not a record of ids and whole numbers') from None
