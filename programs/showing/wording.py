"""What differs between two values, word by word."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

Change = tuple[Literal["same", "gone", "new"], str]
_WORD = re.compile(r"\s*\S+|\s+$")
# Comparing takes time that grows with the square of these: beyond them, lines are taken whole.
_MOST_WORDS, _MOST_LINES = 400, 3000
_ALIKE = 0.5
# What is kept of the text around a change.
_AROUND = 160


def told(value: Any) -> str:
    r"""A value as text, one line for each thing in it.

    Example:
        >>> told({"route": "complex", "parts": ["a", {"b": None}]})
        'route: complex\nparts:\n  - a\n  - b: nothing'
    """
    return "\n".join(_lines(value))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _under(f"{name}:", list(_lines(part)), flat=not isinstance(part, (Mapping, list)))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            first, *more = list(_lines(part)) or ["nothing"]
            yield f"- {first}"
            yield from (f"  {line}" for line in more)
    elif value is None:
        yield "nothing"
    else:
        yield from str(value).split("\n")


def _under(label: str, lines: Sequence[str], *, flat: bool) -> Iterator[str]:
    if flat and len(lines) == 1:
        yield f"{label} {lines[0]}"
    else:
        yield label if lines else f"{label} nothing"
        yield from (f"  {line}" for line in lines)


def changes(before: str, after: str) -> list[Change]:
    """Both texts in pieces: what they share, what the second has no more, and what is new in it.

    Example:
        >>> changes("It is long.", "It was long.")
        [('same', 'It'), ('gone', ' is'), ('new', ' was'), ('same', ' long.')]
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(old), len(new)) > _MOST_LINES:
        return [("gone", before), ("new", after)]
    pieces: list[Change] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(old[a:b])))
        else:
            pieces += _reworded("".join(old[a:b]), "".join(new[c:d]))
    return list(_joined(pieces))


def _reworded(before: str, after: str) -> Iterator[Change]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    whole: list[Change] = [("gone", before), ("new", after)]
    if max(len(old), len(new)) > _MOST_WORDS:
        yield from whole
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _ALIKE:  # single words that both happen to have would only tear them to pieces
        yield from whole
        return
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield "same", "".join(old[a:b])
        else:
            yield "gone", "".join(old[a:b])
            yield "new", "".join(new[c:d])


def _joined(pieces: Sequence[Change]) -> Iterator[Change]:
    """Pieces of a kind that follow each other as one, without empty ones."""
    held: Change | None = None
    for kind, text in pieces:
        if held and held[0] == kind:
            held = (kind, held[1] + text)
        elif text:
            if held:
                yield held
            held = (kind, text)
    if held:
        yield held


def shortened(pieces: Sequence[Change]) -> list[Change]:
    """The same with long stretches that both share cut to what stands around the changes.

    Example:
        >>> [(kind, len(text)) for kind, text in shortened([("new", "a"), ("same", "b" * 1000), ("gone", "c")])]
        [('new', 1), ('same', 323), ('gone', 1)]
    """
    found: list[Change] = []
    for place, (kind, text) in enumerate(pieces):
        if kind == "same" and len(text) > 2 * _AROUND + 3:
            head = text[:_AROUND] if place else ""
            tail = text[-_AROUND:] if place < len(pieces) - 1 else ""
            text = f"{head} … {tail}"
        found.append((kind, text))
    return found
