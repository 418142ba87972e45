"""What differs between two traces, as a tree in the terminal."""

from collections.abc import Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from .difference import Difference, Pair
from .differences import cost
from .lines import clip, shown
from .tree import spent, style_of
from .wording import told

# What tells how a step ended; of all else that differs the name is enough, and the page has it whole.
_OUTCOMES = ("outputs", "reply", "error", "text")
_MARKS = {"only A": ("- ", "red"), "only B": ("+ ", "green"), "changed": ("~ ", "yellow"), "same": ("  ", "dim")}
_BEFORE = 30


def difference_view(difference: Difference, names: tuple[str, str]) -> RenderableType:
    """What two traces have otherwise: - is of the first alone, + of the second, ~ of both and not the same.

    Args:
        difference: As :func:`.difference.compare` finds it.
        names: What the traces are called.
    """
    tree = Tree(Text("Steps", "bold"), guide_style="dim")
    _grow(tree, difference.pairs)
    return Group(
        Text.assemble(("A  ", "red"), shown(names[0]), (f"  {spent(difference.before)}", "dim")),
        Text.assemble(("B  ", "green"), shown(names[1]), (f"  {spent(difference.after)}", "dim")),
        Text(_verdict(difference), "bold"),
        tree,
    )


def _verdict(difference: Difference) -> str:
    if way := difference.first:
        return "First with another outcome: " + " > ".join(clip(pair.row.name) for pair in way)
    return "All steps had the same outcome." if difference.differs else "Nothing differs but the time that it took."


def _grow(tree: Tree, pairs: list[Pair]) -> None:
    for same, group in groupby(pairs, lambda pair: not pair.differs):
        found = list(group)
        if same and len(found) > 1:
            tree.add(Text(f"  {len(found)} the same: {clip(', '.join(pair.row.name for pair in found))}", "dim"))
            continue
        for pair in found:
            branch = tree.add(_head(pair))
            for label, was, now in _outcomes(pair):
                branch.add(Text(f"- {label}: {was}", "red"))
                branch.add(Text(f"+ {label}: {now}", "green"))
            if pair.before and pair.after and pair.differs:
                _grow(branch, pair.children)


def _outcomes(pair: Pair) -> Iterator[tuple[str, str, str]]:
    """How a step ended in both traces, where that differs; of one that others are inside, they tell it."""
    for label in _OUTCOMES if not pair.children else ():
        was, now = pair.changed.get(label, (None, None))
        # What was read out of a reply says more than the reply.
        if was == now or (label == "reply" and None not in pair.changed.get("outputs", ())):
            continue
        yield (label, *apart(told(was), told(now)))


def _head(pair: Pair) -> Text:
    mark, style = _MARKS[pair.state]
    line = Text.assemble((mark, style), (clip(pair.row.name), style_of(pair.row)))
    if not pair.row.is_note:
        line.append(f"  {cost(pair)}", "dim")
    if pair.changed:
        line.append(f"  {', '.join(pair.changed)}", "yellow")
    elif pair.state != "same" and pair.row.did:
        line.append(f"  {clip(pair.row.gist('->'))}", style)
    return line


def apart(before: str, after: str) -> tuple[str, str]:
    """Two texts on a line each, from shortly before the place where they part.

    Example:
        >>> apart("a" * 500 + " so", "a" * 500 + " not")[1][:5], apart("one", "two")
        ('…aaaa', ('one', 'two'))
    """
    parted = (place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    start = max(0, next(parted, min(len(before), len(after))) - _BEFORE)
    head = "…" if start else ""
    return clip(head + before[start:]), clip(head + after[start:])
