"""What reading came to: how much was read, what was left out, and why."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

# A file of the wrong schema has a problem on every line; past this many they are counted, not listed.
_LISTED_PER_FILE = 1000


class UnreadableError(Exception):
    """Raised by a reader when a file as a whole gives nothing; the message is the reason, for the report."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read, or not as it stood.

    Attributes:
        path: The file.
        reason: What is wrong, in a few words.
        line: Line of the file, from 1, where the format has lines.
        page: Page of the file, from 1, where the format has pages.

    Example:
        >>> str(Problem("notes.jsonl", "not JSON", line=7))
        'notes.jsonl, line 7: not JSON'
    """

    path: str
    reason: str
    line: int | None = None
    page: int | None = None

    def __str__(self) -> str:
        place = f", line {self.line}" if self.line else f", page {self.page}" if self.page else ""
        return f"{self.path}{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ReadReport:
    """The account of one reading.

    Attributes:
        files: Files that gave at least one document.
        documents: Documents kept: records of a jsonl, pages of a PDF, whole files of the other formats.
        problems: What went wrong, in reading order; at most 1,000 of one file.
        unlisted: Further problems, beyond those listed.
        skipped: Files of a folder that have no reader, counted by suffix ("" for none).
        repeated: Left out because the same id with the same text had come before.
        clashing: Left out because their id had come before with another text; each is a problem too.
        twins: Same title and text as an earlier one, under another id (left out under ``duplicates="distinct"`` only).
    """

    files: int = 0
    documents: int = 0
    problems: tuple[Problem, ...] = ()
    unlisted: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    repeated: int = 0
    clashing: int = 0
    twins: int = 0

    def summary(self) -> str:
        """The account in one line.

        Example:
            >>> ReadReport(files=2, documents=12, skipped={".docx": 3}, repeated=1).summary()
            '12 documents from 2 files; 3 files of unknown kind skipped (.docx 3); 1 repeated'
        """
        parts = [f"{_count(self.documents, 'document')} from {_count(self.files, 'file')}"]
        if self.problems:
            total = len(self.problems) + self.unlisted
            parts.append(f"{_count(total, 'problem')} ({'first: ' if total > 1 else ''}{self.problems[0]})")
        if self.skipped:
            kinds = ", ".join(f"{suffix or 'no suffix'} {n:,}" for suffix, n in sorted(self.skipped.items()))
            parts.append(f"{_count(sum(self.skipped.values()), 'file')} of unknown kind skipped ({kinds})")
        counts = (
            (self.repeated, "repeated"),
            (self.clashing, "with an id already taken"),
            (self.twins, "with the text of another id"),
        )
        return "; ".join(parts + [f"{n:,} {what}" for n, what in counts if n])


class Ledger:
    """Where a reading notes what happens; turned into a ``ReadReport`` at any time."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.skipped: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.files = self.documents = 0
        self._path = ""
        self._places: dict[str, int | None] = {}
        self._problems_of_file = 0
        self._unlisted = 0

    def open(self, path: str) -> None:
        """Say which file is being read from here on."""
        self._path, self._places, self._problems_of_file = path, {}, 0

    def at(self, *, line: int | None = None, page: int | None = None) -> None:
        """Say where in the file the reader is: problems noted from here on carry this place."""
        self._places = {"line": line, "page": page}

    def problem(self, reason: str) -> None:
        """Note a problem at the present place."""
        self._problems_of_file += 1
        if self._problems_of_file > _LISTED_PER_FILE:
            self._unlisted += 1
        else:
            self.problems.append(Problem(self._path, reason, **self._places))

    def place(self) -> str:
        """The present place, for messages."""
        return str(Problem(self._path, "", **self._places)).removesuffix(": ")

    def report(self) -> ReadReport:
        """The account so far."""
        return ReadReport(
            files=self.files,
            documents=self.documents,
            problems=tuple(self.problems),
            unlisted=self._unlisted,
            skipped=dict(self.skipped),
            repeated=self.verdicts["repeated"],
            clashing=self.verdicts["clash"],
            twins=self.verdicts["twin"],
        )


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
