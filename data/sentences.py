"""Sentences and words of a text in any script, as character spans.

A splitter of our own, because chunks need exact spans, time linear in the text, and an answer for every input. Of the
maintained libraries that were tried, one takes minutes for a megabyte of Chinese on one line and panics on a
no-break space before a full stop; one is quadratic and wants to be told the language; and chunkers cut at clauses and
overlap by a share of tokens instead of whole sentences. When in doubt, this one does not split: a chunk with a longer
sentence is better than one that begins after "Dr.".
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

# Scripts written without spaces (Thai to Burmese, Chinese, Japanese) and Hangul, whose words are longer than English.
_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fff\u3001-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff01-\uffef"
_DENSE += "\U00020000-\U0003ffff"
_DENSE_RUN = re.compile(f"[{_DENSE}]+")
# A run of 20 characters is one word even where no space ends it: nothing is too long to be cut.
_WORD = re.compile(rf"[^\s{_DENSE}]{{1,20}}")
_UNIT = re.compile(f"([{_DENSE}])|{_WORD.pattern}")

_CLOSERS = "\"'”’»)\\]}」』）】〉》"
# Possessive quantifiers and look-behinds keep the search linear on runs of a million stops.
_BOUNDARY = re.compile(
    r"\n[^\S\n]*+\n\s*+"  # a blank line
    r"|\n(?=[^\S\n]*+(?:[-*+•|]|\#{1,6}|\d{1,3}[.)])\s)"  # before a list item or heading
    # Stops that need no space after them; a quotation goes on with a particle (「…。」と).
    rf"|(?<![。！？｡．।॥۔؟።။។])[。！？｡．।॥۔؟።။។]++(?:[{_CLOSERS}]++(?![とってなの])|(?![{_CLOSERS}]))\s*+"
    rf"|(?<![.!?…])(?P<stop>[.!?…]++)[{_CLOSERS}]*+\s++(?=(?P<next>\S))",
)
# Never the last word of a sentence; those of the second line not before a number.
_TITLES = re.compile(
    r"(?:mrs?|ms|dr|prof|st|[sj]r|rev|hon|gov|sen|rep|gen|col|capt|lt|sgt|mt|ft|vs|cf|al|approx|ca|resp|bzw|mme|mlle"
    r"|sra|dra|messrs|eg|ie|viz)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"(?:nos?|nr|figs?|eqs?|sec|ch|vol|pp?|art|jan|feb|mar|apr|ju[nl]|aug|sept?|oct|nov|dec)", re.IGNORECASE
)
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]|[A-Z]")


def sentence_spans(text: str) -> Iterator[Span]:
    """Yield the sentences as spans that follow each other without a gap; blanks belong to the sentence before.

    Example:
        >>> text = "Dr. Smith left. 他走了。她也走了。"
        >>> [text[start:end] for start, end in sentence_spans(text)]
        ['Dr. Smith left. ', '他走了。', '她也走了。']
    """
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match["stop"] is None or _ends_sentence(text, start, match):
            if match.end() > start:
                yield start, match.end()
            start = match.end()
    if start < len(text):
        yield start, len(text)


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    following = match["next"]
    if following.islower():
        return False
    if match["stop"] != ".":
        return True
    before = text[max(start, match.start() - 20) : match.start()].split()
    word = before[-1].lstrip("\"'“‘«([{") if before else ""
    if len(before) == 1 and word.isdigit() and len(word) <= 3:  # the number of a list item
        return False
    if _COUNTED.fullmatch(word):
        return not following.isdigit()
    return not (_TITLES.fullmatch(word) or _DOTTED.fullmatch(word))


def half_words(text: str, start: int = 0, end: int | None = None) -> int:
    """The length of a text in half words: a character of Chinese, Japanese, Korean, Thai and the like counts as one.

    Anything else between blanks counts as a word, one for each 20 characters begun.

    Example:
        >>> half_words("Two words"), half_words("他走了。")
        (4, 4)
    """
    end = len(text) if end is None else end
    words = 2 * len(_WORD.findall(text, start, end))
    return words if text.isascii() else words + sum(map(len, _DENSE_RUN.findall(text, start, end)))


def pieces(text: str, span: Span, limit: int) -> Iterator[Span]:
    """Cut a sentence that is too long: at its line ends, and lines that are still too long between words.

    Args:
        text: The text.
        span: The sentence.
        limit: The most that a piece may count, in half words.
    """
    start, end = span
    while start < end:
        line_end = text.find("\n", start, end) + 1 or end
        begun, count = start, 0
        for unit in _UNIT.finditer(text, start, line_end):
            cost = 1 if unit.lastindex else 2
            if count and count + cost > limit:
                yield begun, unit.start()
                begun, count = unit.start(), 0
            count += cost
        yield begun, line_end
        start = line_end
