"""Samples that are the same each time: balanced over classes, and some of a kind beside others."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def balanced(
    items: Sequence[Item], key: Callable[[Item], Hashable], cap: int, *, fill: bool = False, seed: int = 0
) -> list[Item]:
    """Take at most ``cap`` items, of each class as many; what small classes lack may be made up for by the others.

    Args:
        items: The items.
        key: Their class.
        cap: Most items in all.
        fill: Top up to ``cap`` from what is left of large classes, whatever its class; else no class has more than
            ``cap`` divided by their number.
        seed: Which items are taken.

    Returns:
        The sample, in the order of the items.

    Example:
        >>> balanced("aaaaaab", str, 4), balanced("aaaaaab", str, 4, fill=True)
        (['a', 'a', 'b'], ['a', 'a', 'a', 'b'])
    """
    order = random.Random(seed).sample(range(len(items)), len(items))
    classes: dict[Hashable, list[int]] = defaultdict(list)
    for place in order:
        classes[key(items[place])].append(place)
    quota = cap // max(1, len(classes))
    taken = {place for places in classes.values() for place in places[:quota]}
    if fill:
        taken |= set([place for place in order if place not in taken][: cap - len(taken)])
    return [items[place] for place in sorted(taken)]


def even(items: Sequence[Item], key: Callable[[Item], Hashable], most: int | None = None, seed: int = 0) -> list[Item]:
    """Take of each class as many as the smallest has, and at most ``most``.

    Example:
        >>> even("aaabbcc", str), even("aaabbcc", str, most=1)
        (['a', 'a', 'b', 'b', 'c', 'c'], ['a', 'b', 'c'])
    """
    sizes = Counter(map(key, items)).values()
    least = min(sizes, default=0)
    return balanced(items, key, len(sizes) * min(least, least if most is None else most), seed=seed)


def some(items: Sequence[Item], number: int, seed: int | str = 0) -> list[Item]:
    """Take at most so many items, in their order.

    Example:
        >>> some("abc", 5), len(some("abc", 2))
        (['a', 'b', 'c'], 2)
    """
    places = random.Random(seed).sample(range(len(items)), max(0, min(number, len(items))))
    return [items[place] for place in sorted(places)]
