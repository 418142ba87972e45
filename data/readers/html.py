"""HTML: the main text of the page, without menus and footers; no script runs and no entity is fetched."""

import logging
import re
from collections.abc import Iterator

from ..passages import Passage
from .report import Ledger, UnreadableError
from .source import Source, load_text

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
# A decoded page no longer has the encoding that its XML declaration names, and parsers refuse the contradiction.
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def read_html(source: Source, ledger: Ledger) -> Iterator[Passage]:
    """Yield the one document of an HTML file."""
    # Imported here: the library takes longer to load than most corpora need to be read.
    import trafilatura

    # What the library has to say about a page goes to the report; an application that logs still hears it.
    logging.getLogger("trafilatura").addHandler(logging.NullHandler())
    page = _XML_DECLARATION.sub("", load_text(source, ledger, _declared))
    # The parser stops at a NUL character.
    page = page.replace("\x00", "")
    tree = trafilatura.load_html(page)
    if tree is None:
        raise UnreadableError("not an HTML page")
    title = " ".join(str(tree.findtext(".//title") or "").split())
    yield source.document(_main_text(page) or _all_text(page), title)


def _main_text(page: str) -> str:
    import trafilatura

    try:
        return (trafilatura.extract(page, include_comments=False) or "").strip()
    except Exception:  # whatever a page makes the extractor do: all of its text is still there
        return ""


def _declared(data: bytes) -> str | None:
    match = _CHARSET.search(data[:2048])
    return match.group(1).decode("ascii") if match else None


def _all_text(page: str) -> str:
    """Everything that a browser would show: for pages in which no main text is found."""
    import trafilatura

    tree = trafilatura.load_html(page)
    if tree is None:
        return ""
    for element in list(tree.iter("script", "style", "noscript", "template", "head")):
        # The text that follows an element hangs on it and must stay.
        element.drop_tree()
    lines = (" ".join(line.split()) for line in tree.itertext())
    return "\n".join(line for line in lines if line)
