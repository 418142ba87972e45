"""Reading: from files and folders to documents, one after the other, with an account of what was left out."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...errors import AspectragError
from ..duplicates import Duplicates, Register, check_policy, is_kept
from ..passages import Passage
from .files import Paths, find_sources
from .formats import Format, format_of, known_suffixes
from .report import Ledger, ReadReport, UnreadableError
from .source import Source


@dataclass(frozen=True)
class Reading:
    """The documents of some files; each iteration reads the files anew.

    Attributes:
        paths: The files and folders.
        duplicates: What is done about ids and texts that come twice; see ``data.duplicates``.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "danube.txt").write_text("A river.", encoding="utf-8")
        ...     reading = read(folder)
        ...     [document.text for document in reading], reading.report.summary()
        (['A river.'], '1 document from 1 file')
    """

    paths: Paths
    duplicates: Duplicates = "first"
    _state: dict[str, Ledger] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def report(self) -> ReadReport:
        """The account of the last iteration, as far as it has come."""
        return self._state.get("ledger", Ledger()).report()

    def __iter__(self) -> Iterator[Passage]:
        for _, document in self.with_formats():
            yield document

    def with_formats(self) -> Iterator[tuple[Format, Passage]]:
        """Yield each document with the format of its file.

        Raises:
            AspectragError: Not one document could be read, or the duplicates policy refuses one.
        """
        ledger = self._state["ledger"] = Ledger()
        register = Register()
        for source in find_sources(self.paths, ledger):
            format_ = format_of(source.path.name)
            assert format_ is not None  # only such files are found
            before = ledger.documents
            for document in _documents(source, format_, ledger):
                if self.keeps(document, register):
                    ledger.documents += 1
                    yield format_, document
            ledger.files += ledger.documents > before
        if not ledger.documents:
            raise AspectragError(_nothing(self.paths, ledger.report()))

    def keeps(self, passage: Passage, register: Register) -> bool:
        """Judge a passage by a register and the policy, and enter the outcome into the account.

        Raises:
            AspectragError: The policy refuses it.
        """
        ledger = self._state["ledger"]
        verdict = register.judge(passage)
        ledger.verdicts[verdict] += 1
        if verdict == "clash" and self.duplicates != "error":
            ledger.problem(f"id {passage.id!r} came before with another text: left out")
        return is_kept(verdict, self.duplicates, passage.id, f" in {ledger.place()}")


def read(paths: Paths, *, duplicates: Duplicates = "first") -> Reading:
    """Prepare to read files and folders.

    Args:
        paths: One or more of them; a folder is read to the bottom.
        duplicates: What is done about ids and texts that come twice; see ``data.duplicates``.

    Raises:
        AspectragError: A path does not exist, or the policy is unknown.
    """
    check_policy(duplicates)
    roots = (paths,) if isinstance(paths, str | os.PathLike) else tuple(paths)
    reading = Reading(roots, duplicates)
    find_sources(roots, Ledger())  # says at once what is not there
    return reading


def _documents(source: Source, format_: Format, ledger: Ledger) -> Iterator[Passage]:
    ledger.open(str(source.path))
    try:
        yield from format_.read(source, ledger)
    except UnreadableError as error:
        ledger.problem(str(error))
    except OSError as error:
        ledger.problem(f"cannot be read: {error.strerror or error}")


def _nothing(paths: Paths, report: ReadReport) -> str:
    where = ", ".join(str(path) for path in paths) if isinstance(paths, tuple) else str(paths)
    if report.problems or report.skipped:
        return f"nothing could be read from {where}: {report.summary()}; there are readers for {known_suffixes()}"
    return f"no files in {where}; there are readers for {known_suffixes()}"
