"""Two traces side by side: which steps both have, which one alone has, and what came out otherwise."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from ..trace import Trace
from .answers import question_of, result_of
from .lines import clip
from .rows import Row, Tree, tree_of

if TYPE_CHECKING:
    from rich.console import RenderableType

State = Literal["same", "changed", "only A", "only B"]
# Beside its parts. Times are not among them: they are never the same twice.
_OWN = ("name", "model", "error", "cached")


@dataclass
class Pair:
    """A step of both traces, or of one of them.

    Attributes:
        before: Its row in the first trace; ``None`` where that has none.
        after: Its row in the second.
        changed: What differs, by label: a part (``inputs``, ``prompt``, ``reply``, ``outputs``, ...), ``name``,
            ``model``, ``error``, ``cached`` or ``tokens``, with what it was and what it is.
        children: The steps inside it.
        number: Its place in the whole, from 0, outer ones first.
        differs: Whether it, or one inside it, is not the same in both.
    """

    before: Row | None
    after: Row | None
    changed: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    children: list["Pair"] = field(default_factory=list)
    number: int = 0
    differs: bool = False

    @property
    def row(self) -> Row:
        """The row of the second trace, or where it has none, of the first."""
        return next(row for row in (self.after, self.before) if row)

    @property
    def state(self) -> State:
        """Which of the traces has it, and whether it is the same in both."""
        if self.before is None:
            return "only B"
        if self.after is None:
            return "only A"
        return "changed" if self.changed else "same"

    def walk(self) -> Iterator["Pair"]:
        """This pair and all inside it, as they are numbered."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Difference:
    """What differs between two traces, A and B.

    Attributes:
        before: The rows of A.
        after: Those of B.
        pairs: The outermost steps of both.
    """

    before: Tree
    after: Tree
    pairs: list[Pair]

    def walk(self) -> Iterator[Pair]:
        """All steps, as they are numbered."""
        for pair in self.pairs:
            yield from pair.walk()

    @property
    def differs(self) -> bool:
        """Whether anything but times is not the same."""
        return any(pair.differs for pair in self.pairs)

    @property
    def first(self) -> list[Pair]:
        """The way to the first step that one trace alone has, or that had another outcome; empty where there is none.

        What a step passes on from those inside it is put down to them.
        """
        return next((way for pair in self.pairs if (way := _first(pair))), [])

    @property
    def question(self) -> str | None:
        """What the programs were asked, where both were asked the same."""
        asked = {next(filter(None, map(question_of, tree.rows)), None) for tree in (self.before, self.after)}
        return asked.pop() if len(asked) == 1 else None

    @property
    def answers(self) -> tuple[str | None, str | None]:
        """What the programs answered; ``None`` where there is none."""
        return _answer(self.before), _answer(self.after)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from .differences import difference_html

        return difference_html(self)

    def __rich__(self) -> "RenderableType":
        """How a console of rich shows it: a tree of what differs."""
        from .difference_tree import difference_view

        return difference_view(self, ("A", "B"))

    def __repr__(self) -> str:
        """One line: how many steps differ, and the way to the first."""
        pairs = list(self.walk())
        way = " > ".join(clip(pair.row.name) for pair in self.first)
        return f"Difference({sum(pair.differs for pair in pairs)} of {len(pairs)} steps{way and f', first: {way}'})"


def compare(before: Trace, after: Trace) -> Difference:
    """Put two traces side by side.

    Steps belong together where they have the same name, and come as often before under the same step: the second
    attempt at a stage is compared with the second one. Programs are compared whatever their names.

    Args:
        before: A, such as the trace of a run before a change.
        after: B.
    """
    trees = tree_of(before.to_dict()), tree_of(after.to_dict())
    difference = Difference(*trees, _pairs(trees[0].rows, trees[1].rows))
    for number, pair in enumerate(difference.walk()):
        pair.number = number
    return difference


def _pairs(before: Sequence[Row], after: Sequence[Row]) -> list[Pair]:
    matcher = SequenceMatcher(None, _keys(before), _keys(after), autojunk=False)
    found: list[Pair] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found += [_pair(one, other) for one, other in zip(before[a:b], after[c:d], strict=True)]
        else:
            found += [_pair(row, None) for row in before[a:b]]
            found += [_pair(None, row) for row in after[c:d]]
    return found


def _keys(rows: Sequence[Row]) -> list[tuple[str, str, int]]:
    """What a row is known by beside its siblings. No two are alike, so that finding them takes no time."""
    seen: Counter[tuple[str, str]] = Counter()
    keys = []
    for row in rows:
        key = (row.kind, "" if row.kind in ("program", "lm") else row.name)
        seen[key] += 1
        keys.append((*key, seen[key]))
    return keys


def _pair(before: Row | None, after: Row | None) -> Pair:
    children = _pairs(before.children if before else [], after.children if after else [])
    pair = Pair(before, after, _changed(before, after) if before and after else {}, children)
    pair.differs = pair.state != "same" or any(child.differs for child in children)
    return pair


def _changed(before: Row, after: Row) -> dict[str, tuple[Any, Any]]:
    labels = dict.fromkeys([*after.parts, *before.parts])
    found = {label: (before.parts.get(label), after.parts.get(label)) for label in labels}
    found |= {name: (getattr(before, name), getattr(after, name)) for name in _OWN}
    if before.is_note:
        found["text"] = (before.gist(), after.gist())
    if "reply" in labels:  # steps around a call have its tokens too
        found["tokens"] = (f"{before.prompt} + {before.completion}", f"{after.prompt} + {after.completion}")
    return {label: (one, other) for label, (one, other) in found.items() if one != other}


def _answer(tree: Tree) -> str | None:
    return next((result["answer"] for row in tree.rows if (result := result_of(row))), None)


def _first(pair: Pair) -> list[Pair]:
    if not pair.differs:
        return []
    if pair.state in ("only A", "only B"):
        return [pair]
    inside = next((way for child in pair.children if (way := _first(child))), [])
    if inside:
        return [pair, *inside]
    return [pair] if {"outputs", "reply", "error", "text"} & pair.changed.keys() else []
