"""Chunking: from documents to passages of a size that can be indexed, retrieved and cited.

A chunk is a run of whole sentences. The next one begins with the last sentences of the one before, as many as fit into
the overlap. Only a sentence that is longer than a whole chunk is cut, at line ends or between words. Nothing is lost:
together the chunks hold every character but blanks.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..errors import AspectragError
from .passages import Passage
from .sentences import Span, half_words, pieces, sentence_spans


def chunk(
    documents: Iterable[Passage], *, words: int = 100, overlap: int = 20, whole: int | None = None
) -> Iterator[Passage]:
    """Cut documents into passages.

    A document that fits stays as it is, id included. The chunks of another are called ``<id>#0``, ``<id>#1``, …, keep
    its title, and say in ``meta`` which ``document`` they come from and their ``span`` ``[start, end]`` in its text, in
    characters.

    Args:
        documents: The documents.
        words: The most words of a chunk. A character of Chinese, Japanese, Korean or Thai counts as half a word; a
            run of other characters as one word for each 20 begun.
        overlap: The most words that a chunk repeats from the one before it; 0 for none.
        whole: Documents of up to this many words stay whole, ``words`` by default.

    Yields:
        The passages, in order.

    Raises:
        AspectragError: The sizes make no sense.

    Example:
        >>> text = "One is here. Two is here. Three is here."
        >>> [(p.id, p.text, p.meta["span"]) for p in chunk([Passage("d", "", text)], words=6, overlap=3)]
        [('d#0', 'One is here. Two is here.', [0, 25]), ('d#1', 'Two is here. Three is here.', [13, 40])]
    """
    check_sizes(words, overlap)
    limit = 2 * max(words, whole or 0)
    for document in documents:
        if half_words(document.text) <= limit:
            yield document
            continue
        for number, (start, end) in enumerate(_packed(document.text, 2 * words, 2 * overlap)):
            meta = {**document.meta, "document": document.id, "span": [start, end]}
            yield replace(document, id=f"{document.id}#{number}", text=document.text[start:end], meta=meta)


def check_sizes(words: int, overlap: int) -> None:
    """Refuse sizes that make no sense.

    Raises:
        AspectragError: No words to a chunk, or an overlap that leaves no room for new text.
    """
    if words < 1:
        raise AspectragError(f"a chunk of {words} words holds nothing; choose 1 or more")
    if not 0 <= overlap < words:
        raise AspectragError(
            f"an overlap of {overlap} words does not go with chunks of {words}; choose 0 to {words - 1}"
        )


def _packed(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Group sentences into chunks of up to ``size`` half words; yields their spans without outer blanks."""
    window: deque[tuple[int, int, int]] = deque()
    total = fresh = 0
    for start, end, cost in _parts(text, size, overlap):
        if fresh and total + cost > size:
            yield _trimmed(text, window[0][0], window[-1][1])
            fresh = 0
            while window and (total > overlap or total + cost > size):
                total -= window.popleft()[2]
        window.append((start, end, cost))
        total += cost
        fresh += 1
    if fresh:
        yield _trimmed(text, window[0][0], window[-1][1])


def _parts(text: str, size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """Yield the sentences with their cost, those that are too long in pieces small enough to be repeated."""
    for start, end in sentence_spans(text):
        cost = half_words(text, start, end)
        if cost > size:
            for piece in pieces(text, (start, end), overlap or size):
                if cost := half_words(text, *piece):
                    yield *piece, cost
        elif cost:
            yield start, end, cost


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
