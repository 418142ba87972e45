"""Sets that share nothing: what was learnt in one must not be asked in another."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from ...errors import AspectragError
from .hops import Record, in_turn, waits
from .words import tokens

_SHOWN = 5
_CLIP = 60


R = TypeVar("R", bound=Record)
Mark = tuple[str, str]


def marks(record: Record) -> set[Mark]:
    """What two sets may not share: questions, as their words; supporting passages; and the entity of a compound one.

    Sub-questions and what supports them count as well; fields that a record does not have are passed over. Passages
    are known by id: see :mod:`.twins` for those that are one text under several ids.

    Example:
        >>> part = {"question": "Who wrote it?", "answers": ["Ann"], "supporting_id": "b"}
        >>> sorted(marks({"question": "Who's first?", "supporting_ids": ["a"], "sub_questions": [part]}))
        [('passage', 'a'), ('passage', 'b'), ('question', 'who first'), ('question', 'who wrote it')]
    """
    parts = [part for part in record.get("sub_questions") or () if isinstance(part, Mapping)]
    support = [each for known in (record, *parts) for each in known.get("supporting_ids") or ()]
    support += [part["supporting_id"] for part in parts if part.get("supporting_id")]
    found = {("passage", str(passage)) for passage in support}
    asked = [record.get("question")]
    for place, part in enumerate(parts):
        text = part.get("question")
        # A template that waits for an earlier answer, such as "Who founded #1?", is no question yet.
        if isinstance(text, str) and not (in_turn(record) and waits(text, place)):
            asked.append(text)
    for text in asked:
        if isinstance(text, str) and (words := tokens(text.casefold())):
            found.add(("question", " ".join(words)))
    if entity := (record.get("meta") or {}).get("entity"):
        found.add(("entity", str(entity)))
    return found


def shared(train: Iterable[Record], test: Iterable[Record]) -> Iterator[tuple[str, str, Mark]]:
    """Yield what two sets share: the id of a record of each, and the mark."""
    owners: dict[Mark, str] = {}
    for record in test:
        for mark in marks(record):
            owners.setdefault(mark, str(record.get("id")))
    for record in train:
        for mark in sorted(marks(record) & owners.keys()):
            yield str(record.get("id")), owners[mark], mark


def disjoint(train: Iterable[Record], test: Iterable[Record]) -> None:
    """Refuse two sets that have a question, a supporting passage or an entity in common; see :func:`marks`.

    Raises:
        AspectragError: They do; names the first ids.

    Example:
        >>> disjoint([{"id": "1", "question": "Why?"}], [{"id": "2", "question": "How?"}])
        >>> disjoint([{"id": "1", "question": "Why?"}], [{"id": "2", "question": "why"}])
        Traceback (most recent call last):
        aspectrag.errors.AspectragError: train and test share 1 thing: '1' and '2' the question 'why'
    """
    found = list(shared(train, test))
    if not found:
        return
    told = [f"{ours!r} and {theirs!r} the {kind} {_clipped(what)!r}" for ours, theirs, (kind, what) in found[:_SHOWN]]
    more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    things = f"{len(found)} thing{'s' * (len(found) != 1)}"
    raise AspectragError(f"train and test share {things}: {', '.join(told)}{more}")


def apart(records: Sequence[R], others: Iterable[Record], *, titles: bool = False) -> list[R]:
    """The records that share nothing with others: what is left to learn from beside a test set that stands.

    Args:
        records: Of which some are kept.
        others: Those that stand.
        titles: Whether they may not be about one article either, in other passages of it.

    Example:
        >>> apart([{"id": "1", "question": "Why?"}, {"id": "2", "question": "How?"}], [{"question": "why"}])
        [{'id': '2', 'question': 'How?'}]
    """
    found = _marks_and_titles if titles else marks
    taken = {mark for other in others for mark in found(other)}
    return [record for record in records if not found(record) & taken]


def _marks_and_titles(record: Record) -> set[Mark]:
    return marks(record) | {("entity", str(title)) for title in record.get("supporting_titles") or ()}


def groups(records: Sequence[Record]) -> list[list[int]]:
    """Places of records that hang together by what they share, directly or over others; in order of their first."""
    parent = list(range(len(records)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    owner: dict[Mark, int] = {}
    for place, record in enumerate(records):
        for mark in marks(record):
            parent[root(place)] = root(owner.setdefault(mark, place))
    members: dict[int, list[int]] = defaultdict(list)
    for place in range(len(records)):
        members[root(place)].append(place)
    return sorted(members.values())


def split(
    records: Sequence[R],
    shares: Mapping[str, float],
    seed: int = 0,
    key: Callable[[R], Hashable] | None = None,
) -> dict[str, list[R]]:
    """Divide records such that the parts share nothing: what hangs together stays together.

    Args:
        records: Questions or records made of them.
        shares: How large each part shall be, in proportion to the others.
        key: A class of which each part shall have its share, as far as what hangs together allows.
        seed: Which records go where; the same records and seed give the same parts.

    Returns:
        The parts by name, each in the order of the records.

    Raises:
        AspectragError: So much hangs together that a part would be empty.

    Example:
        >>> records = [{"id": str(n), "question": f"Number {n // 2}?"} for n in range(20)]
        >>> parts = split(records, {"train": 0.8, "test": 0.2})
        >>> len(parts["train"]), len(parts["test"]), disjoint(parts["train"], parts["test"])
        (16, 4, None)
    """
    bunches = groups(records)
    random.Random(seed).shuffle(bunches)
    bunches.sort(key=len, reverse=True)  # what is large finds its place while there is room
    classes = [key(record) if key else None for record in records]
    total = sum(shares.values())
    room = {
        name: {kind: count * share / total for kind, count in Counter(classes).items()}
        for name, share in shares.items()
    }
    places: dict[str, list[int]] = {name: [] for name in shares}
    for bunch in bunches:
        kinds = Counter(classes[place] for place in bunch)
        name = max(room, key=lambda part: sum(room[part][kind] * count for kind, count in kinds.items()))
        places[name] += bunch
        for kind, count in kinds.items():
            room[name][kind] -= count
    if empty := [name for name, share in shares.items() if share and not places[name]]:
        largest = max(map(len, bunches), default=0)
        raise AspectragError(
            f"no {empty[0]} part can be split off: of {len(records)} questions, {largest} hang together by what they "
            "share; give more questions, or leave that part out"
        )
    return {name: [records[place] for place in sorted(found)] for name, found in places.items()}


def _clipped(text: str) -> str:
    return text if len(text) <= _CLIP else text[:_CLIP] + "…"
