"""Citations: the numbers in square brackets of an answer, and the passages that they point to."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...data.passages import Passage
from ...texts import encodable

# Bounded in every part: a model may write a million digits or blanks, and a pattern must not be slow over them.
_MARK = re.compile(r"\s?\[([0-9]{1,6}(?:\s{0,2}[,;]\s{0,2}[0-9]{1,6}){0,50})\]")
# What the pattern can read.
_MOST = 999_999
_NUMBER = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Citation:
    """A number that the answer cites, and the passage that was given under it."""

    number: int
    passage_id: str
    title: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {"number": self.number, "passage_id": self.passage_id, "title": self.title}


def renumber(text: str, shown: Sequence[Passage], all_passages: Sequence[Passage]) -> str:
    """Rewrite citations of ``shown`` into citations of ``all_passages``; numbers that point nowhere are taken out.

    Example:
        >>> a, b = Passage("a", "A", "x"), Passage("b", "B", "y")
        >>> renumber("So it is [1], [7].", [b], [a, b])
        'So it is [2],.'
    """
    # A passage that was merged away as a twin is found by its text.
    place = {key: n for n, p in reversed([*enumerate(all_passages, 1)]) for key in _keys(p)}

    def number(passage: Passage) -> int:
        return next(place[key] for key in _keys(passage) if key in place)

    def replace(match: re.Match[str]) -> str:
        numbers = [int(n) for n in _NUMBER.findall(match[1])]
        known = [number(shown[n - 1]) for n in numbers if 1 <= n <= len(shown)]
        space = match[0][: len(match[0]) - len(match[0].lstrip())]
        return space + "".join(f"[{n}]" for n in dict.fromkeys(known)) if known else ""

    return _MARK.sub(replace, text).strip()


def _keys(passage: Passage) -> tuple[tuple[str, ...], ...]:
    """By what a passage is known in another list; ids may repeat where a retriever is careless."""
    return ("both", passage.id, passage.text), ("text", passage.text), ("id", passage.id)


def cited(text: str, numbers: Iterable[int]) -> str:
    """The text with its citations; where it has none of its own, ``numbers`` are put at its end.

    Small models name the passages they used well, and seldom mark them in the text.

    Example:
        >>> cited("It is long.", [2, 1, 2])
        'It is long. [1][2]'
        >>> cited("It is long [3].", [1])
        'It is long [3].'
    """
    if _MARK.search(text):
        return text
    known = sorted({n for n in numbers if 0 < n <= _MOST})
    return " ".join([text, "".join(f"[{n}]" for n in known)]).strip()


def unmarked(text: str) -> str:
    """The text without its citations."""
    return _MARK.sub("", text).strip()


def joined(sentences: Iterable[tuple[Any, Any]]) -> str:
    """One text out of sentences and the numbers that each rests on; what is said again is left out.

    Small models repeat themselves at length. A sentence that comes without numbers keeps those in its own text.

    Example:
        >>> joined([("It is long.", [2]), ("It is deep [1].", []), ("It is long.", [3])])
        'It is long. [2] It is deep [1].'
    """
    texts: dict[str, str] = {}
    for sentence, numbers in sentences:
        text = encodable(str(sentence or "")).strip()
        numbers = [n for n in numbers if isinstance(n, int)] if isinstance(numbers, list) else []
        if bare := unmarked(text):
            texts.setdefault(bare, cited(bare, numbers) if numbers else text)
    return " ".join(texts.values())


def citations(answer: str, passages: Sequence[Passage]) -> list[Citation]:
    """The passages that ``answer`` cites, each once, by number."""
    numbers = {int(n) for mark in _MARK.findall(answer) for n in _NUMBER.findall(mark)}
    return [Citation(n, passages[n - 1].id, passages[n - 1].title) for n in sorted(numbers) if 1 <= n <= len(passages)]
