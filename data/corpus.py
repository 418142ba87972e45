"""The one door for documents: from files and folders to the passages of a corpus."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tqdm.auto import tqdm

from .chunking import check_sizes, chunk
from .duplicates import Duplicates, Register
from .passages import Passage
from .readers.files import Paths
from .readers.formats import Format
from .readers.reading import Reading, read
from .readers.report import ReadReport

# Longer records are cut where nothing else is said: no encoder reads them whole.
RECORD_WORDS = 512
_CHUNK_ID = re.compile(r"#\d+$")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages in memory, and the account of where they come from.

    Attributes:
        passages: In reading order, ids unique.
        report: What was read and what was left out.
    """

    passages: tuple[Passage, ...]
    report: ReadReport

    def __len__(self) -> int:
        return len(self.passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def summary(self) -> str:
        """The account in one line.

        Example:
            >>> Corpus((Passage("1", "", "A river."),), ReadReport(files=1, documents=1)).summary()
            '1 passage; 1 document from 1 file'
        """
        return f"{len(self):,} passage{'s' * (len(self) != 1)}; {self.report.summary()}"


@dataclass(frozen=True, slots=True)
class CorpusStream:
    """The passages of a corpus that need not fit into memory; each iteration reads the files anew.

    Attributes:
        reading: The documents.
        chunk_words: See ``load_corpus``.
        overlap_words: See ``load_corpus``.
        record_words: See ``load_corpus``.
    """

    reading: Reading
    chunk_words: int
    overlap_words: int
    record_words: int | None

    @property
    def report(self) -> ReadReport:
        """What was read and left out in the last iteration, as far as it has come."""
        return self.reading.report

    def __iter__(self) -> Iterator[Passage]:
        register = Register()
        for format_, document in self.reading.with_formats():
            for passage in self._cut(format_, document):
                # A record may have the id of a chunk, as where passages lie beside the documents they were cut from.
                if not _CHUNK_ID.search(passage.id) or self.reading.keeps(passage, register):
                    yield passage

    def _cut(self, format_: Format, document: Passage) -> Iterable[Passage]:
        if format_.records and self.record_words is None:
            return [document]
        whole = self.record_words if format_.records else None
        return chunk([document], words=self.chunk_words, overlap=self.overlap_words, whole=whole)


def stream_corpus(
    paths: Paths,
    *,
    chunk_words: int = 100,
    overlap_words: int = 20,
    record_words: int | None = RECORD_WORDS,
    duplicates: Duplicates = "first",
) -> CorpusStream:
    """Prepare to read a corpus passage by passage; arguments and errors as for ``load_corpus``."""
    check_sizes(chunk_words, overlap_words)
    return CorpusStream(read(paths, duplicates=duplicates), chunk_words, overlap_words, record_words)


def load_corpus(
    paths: Paths,
    *,
    chunk_words: int = 100,
    overlap_words: int = 20,
    record_words: int | None = RECORD_WORDS,
    duplicates: Duplicates = "first",
    progress: bool = True,
) -> Corpus:
    r"""Read files and folders into passages.

    Documents are cut into passages. The records of a jsonl file have been cut by whoever made it, and other files
    refer to their ids: they stay as they are unless they are longer than ``record_words``.

    Args:
        paths: One or more files and folders (jsonl, jsonl.gz, txt, md, html, pdf); folders are read to the bottom.
        chunk_words: The most words of a passage cut from a document.
        overlap_words: The most words that it repeats from the one before.
        record_words: The most words of a jsonl record that is not cut; ``None`` to cut none.
        duplicates: ``first`` keeps the first document of each id, ``distinct`` the first of each text as well,
            ``error`` refuses an id that comes twice.
        progress: Show a progress bar on a terminal once reading takes longer than a second.

    Raises:
        AspectragError: A path does not exist, nothing could be read, or an argument makes no sense.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "danube.md").write_text("# Danube\n\nA river.", encoding="utf-8")
        ...     load_corpus(folder).summary()
        '1 passage; 1 document from 1 file'
    """
    stream = stream_corpus(
        paths,
        chunk_words=chunk_words,
        overlap_words=overlap_words,
        record_words=record_words,
        duplicates=duplicates,
    )
    # disable=None: only on a terminal.
    bar = tqdm(stream, desc="Reading", unit=" passages", delay=1, leave=False, disable=None if progress else True)
    return Corpus(tuple(bar), stream.report)
