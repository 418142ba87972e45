"""Questions with long answers, and a file of results that grows line by line and survives being cut short."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from ...errors import AspectragError
from ...texts import encodable
from ..benchmarks.files import refused
from ..duplicates import fingerprint
from ..growing import GrowingFile, write_records


@dataclass(frozen=True)
class Question:
    """A question with its long answer.

    Attributes:
        id: Its id as text; a digest of question and answer where its record has none.
        question: The question.
        answer: The first of its answers.
        record: The whole record, its id in it.
    """

    id: str
    question: str
    answer: str
    record: dict[str, Any]


def read_questions(path: Path) -> list[Question]:
    """Read records ``{"id", "question", "answers": [long answer, ...]}``, one per line.

    Raises:
        AspectragError: A line is no such record, an id is there twice, or there is no record; names the line.
        OSError: The file cannot be read.
    """
    questions: dict[str, Question] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        question = _question(_parsed(line, where), where)
        if question.id in questions:
            raise AspectragError(f"{where}: the id {question.id!r} is that of line {lines[question.id]} too")
        questions[question.id], lines[question.id] = question, number
    if not questions:
        raise AspectragError(f"{path} is empty: give one JSON record per line")
    return list(questions.values())


def _parsed(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
        if b"\\u" in line:  # halves of surrogate pairs could not be written, nor found again in what was
            record = json.loads(encodable(json.dumps(record, ensure_ascii=False)))
    except UnicodeDecodeError:
        raise AspectragError(f"{where} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        raise AspectragError(f"{where} {refused(error)}") from None
    if not isinstance(record, dict):
        raise AspectragError(f"{where} is not a record but a {type(record).__name__}")
    return record


def _question(record: dict[str, Any], where: str) -> Question:
    question, answers, identity = (record.get(key) for key in ("question", "answers", "id"))
    if not isinstance(question, str) or not question.strip():
        raise AspectragError(f'{where} has no "question"')
    answer = answers[0] if isinstance(answers, list) and answers else None
    if not isinstance(answer, str) or not answer.strip():
        raise AspectragError(f'{where} has no "answers": a list with the long answer first')
    if identity in (None, ""):
        # Not the number of the line: it would mean another question as soon as the file is edited.
        identity = fingerprint(f"{question}\n{answer}").hex()
    elif isinstance(identity, bool) or not isinstance(identity, str | int | float):
        raise AspectragError(f'{where}: the "id" is neither text nor a number')
    return Question(str(identity), question, answer, record | {"id": identity})


class Asked(Protocol):
    """What a result is asked for: it has an id, and a record that the result extends."""

    @property
    def id(self) -> str:
        """Its id as text."""
        ...

    @property
    def record(self) -> dict[str, Any]:
        """Its record, the id in it."""
        ...


@dataclass(frozen=True)
class Task:
    """A record that is no question with a long answer: a passage, or questions to be joined.

    Attributes:
        id: Its id as text.
        record: The record, the id in it.
    """

    id: str
    record: dict[str, Any]


class Results:
    r"""A file of records, one for each question that is done.

    A record is one line, written at once. What a kill cut short is dropped when the file is opened again.

    Attributes:
        path: The file.
        done: The records so far, by id.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "out.jsonl"
        >>> asked = Question("1", "Why?", "So.", {"id": "1", "question": "Why?", "answers": ["So."]})
        >>> Results(path, [asked], "made_by").add(asked, {"made_by": "hand"})
        >>> path.read_text()
        '{"id": "1", "question": "Why?", "answers": ["So."], "made_by": "hand"}\n'
        >>> list(Results(path, [asked], "made_by").done)
        ['1']
    """

    def __init__(
        self,
        path: Path,
        questions: Sequence[Asked],
        key: str,
        same: Sequence[str] = ("question", "answers"),
        *,
        outdated: Literal["refuse", "drop"] = "refuse",
    ) -> None:
        """Open the file; where there is none, the first record makes it.

        Args:
            path: The file.
            questions: All questions that it may hold, in the order that it shall have.
            key: A key that every result has.
            same: Fields by which a result is known to be one for the record as it stands.
            outdated: What becomes of results for other records, which an earlier step may have changed.

        Raises:
            AspectragError: It holds something else than results, or refuses those for other records.
            OSError: It cannot be read or written.
        """
        self.path = path
        self._order = {question.id: place for place, question in enumerate(questions)}
        self.done: dict[str, dict[str, Any]] = {}
        self._file = GrowingFile(path)
        count = 0
        for count, record in enumerate(self._file, 1):
            identity = str(record.get("id"))
            asked = questions[self._order[identity]].record if identity in self._order else {}
            if key in record and all(record.get(part) == asked.get(part, "") for part in same):
                self.done[identity] = record
            elif key not in record or outdated == "refuse":
                raise AspectragError(
                    f"{path}, line {count} is no result for a question of this set as it stands: give another file"
                )
        if len(self.done) < count:
            write_records(path, self.done.values())

    def add(self, question: Asked, results: Mapping[str, Any]) -> None:
        """Write what came out for a question, beside all that its record has."""
        record = {**question.record, **results}
        self._file.add(record)
        self.done[question.id] = record

    def sort(self) -> None:
        """Bring the records into the order of the questions; they were written as they came in."""
        if list(self.done) == (ordered := sorted(self.done, key=self._order.__getitem__)):
            return
        self.done = {identity: self.done[identity] for identity in ordered}
        write_records(self.path, self.done.values())
