"""Questions with aspects and the part of a long answer that belongs to each, read from JSON lines."""

from collections.abc import Sequence
from pathlib import Path

import dspy
import ujson

from ..errors import AspectragError


def load_faceted(paths: Sequence[str | Path], limit: int | None = None) -> list[dspy.Example]:
    """Read records ``{"question", "answers": [...], "sub_questions": [{"question", "answers": [...]}]}``.

    The question of a sub-question is an aspect, its first answer the sub-answer. This is what ``aspectrag data
    annotate`` writes. Records without a sub-answer are left out: nothing could be covered.

    Args:
        paths: Files, one JSON object per line.
        limit: Most examples of each file.

    Returns:
        Examples with ``id``, ``question`` (their input), ``aspects``, ``sub_answers`` and ``answers``.

    Raises:
        AspectragError: A file cannot be read, a line is no such record, or no record has a sub-answer.

    Example:
        >>> load_faceted(["faceted.jsonl"])[0].question  # doctest: +SKIP
        'Is coal cheap, and is it clean?'
    """
    examples: list[dspy.Example] = []
    for path in map(Path, paths):
        try:
            lines = path.read_text(encoding="utf-8").split("\n")  # texts may hold other line ends
        except (OSError, UnicodeDecodeError) as exc:
            raise AspectragError(f"{path} cannot be read ({exc}): give a file of JSON lines") from None
        found = [
            example for number, line in enumerate(lines, 1) if line.strip() and (example := _read(path, number, line))
        ]
        if not found:
            raise AspectragError(f"{path} holds no question with sub-answers: 'aspectrag data annotate' makes them")
        examples += found[:limit]
    return examples


def _read(path: Path, number: int, line: str) -> dspy.Example | None:
    try:
        record = ujson.loads(line)
        parts = [(part["question"], part["answers"]) for part in record["sub_questions"] if part.get("answers")]
        if not all(isinstance(answers, list) for _, answers in parts):
            raise TypeError("answers must be a list")
        parts = [(aspect.strip(), answer) for aspect, (answer, *_) in parts if aspect.strip() and answer.strip()]
        example = dspy.Example(
            id=str(record.get("id", f"{path.name}:{number}")),
            question=record["question"].strip(),
            aspects=[aspect for aspect, _ in parts],
            sub_answers=[answer for _, answer in parts],
            answers=[str(answer) for answer in record.get("answers") or []],
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as exc:
        raise AspectragError(
            f"{path}, line {number}: no record with question and sub_questions ({type(exc).__name__}: {exc})"
        ) from None
    return example.with_inputs("question") if parts and example.question else None
