"""PDF: one document per page, so that an answer can cite the page.

A sentence that runs over a page break is cut there. Pages without text (scans) are reported: they need OCR first.
"""

import logging
from collections.abc import Iterator

from ..passages import Passage
from .report import Ledger, UnreadableError
from .source import Source


def read_pdf(source: Source, ledger: Ledger) -> Iterator[Passage]:
    """Yield the pages of a PDF that have text."""
    # Imported here: a corpus without PDFs does not need it.
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    # What the library has to say about a file goes to the report; an application that logs still hears it.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    with source.path.open("rb") as stream:
        try:
            pdf = PdfReader(stream)
            # Many encrypted files open with the empty password: they only forbid printing or changes.
            if pdf.is_encrypted and not pdf.decrypt(""):
                raise UnreadableError("encrypted: save a copy without the password")
            pages = len(pdf.pages)
            title = str((pdf.metadata and pdf.metadata.title) or "")
        except UnreadableError:
            raise
        except (DependencyError, FileNotDecryptedError) as error:
            raise UnreadableError("encrypted: save a copy without the password") from error
        except Exception as error:  # a damaged file makes the library fail in any way
            raise UnreadableError(f"not a readable PDF ({_reason(error)})") from error
        blank: list[int] = []
        for number in range(1, pages + 1):
            ledger.at(page=number)
            try:
                text = pdf.pages[number - 1].extract_text()
            except Exception as error:  # one damaged page must not cost the others
                ledger.problem(f"unreadable page ({_reason(error)})")
                continue
            if text.strip():
                yield source.document(text, title, part=f"#page={number}", page=number)
            else:
                blank.append(number)
    ledger.at()
    if len(blank) == pages:
        raise UnreadableError(f"no text on its {pages} page{'s' * (pages != 1)}; scanned pages need OCR first")
    for number in blank:
        ledger.at(page=number)
        ledger.problem("no text on this page")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:100] or type(error).__name__
