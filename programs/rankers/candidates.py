"""The pool that is ranked: each passage once, with the aspects that found it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...data.passages import Passage

# Under this name a passage remembers its place among those that the bare question found.
QUESTION = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage of the pool.

    Attributes:
        passage: The passage, with the score of the first query that found it.
        ranks: Its place (from 1) in the list of each query that found it, by the query's aspect;
            :data:`QUESTION` stands for the bare question.
    """

    passage: Passage
    ranks: Mapping[str, int]

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects that found it."""
        return tuple(aspect for aspect in self.ranks if aspect != QUESTION)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {**self.passage.to_dict(), "aspects": list(self.aspects), "ranks": dict(self.ranks)}


def pool_of(aspects: Sequence[str], found: Sequence[Sequence[Passage]], most: int) -> list[Candidate]:
    """Merge what the queries found: each id and each text once, ordered by best rank, then by query.

    So the pool begins with the first passage of every query, and what is cut off is what none of them ranked well.

    Args:
        aspects: The aspect of each query.
        found: What each query found, best first.
        most: Largest pool.

    Example:
        >>> river, sea = Passage("a", "", "A river."), Passage("b", "", "A sea.")
        >>> [(c.passage.id, c.aspects) for c in pool_of(["length", "depth"], [[river], [sea, river]], 10)]
        [('a', ('length', 'depth')), ('b', ('depth',))]
    """
    places = sorted(
        ((rank, query, passage) for query, passages in enumerate(found) for rank, passage in enumerate(passages, 1)),
        key=lambda place: place[:2],
    )
    passages: dict[str, Passage] = {}
    ranks: dict[str, dict[str, int]] = {}
    ids: dict[str, str] = {}
    for rank, query, passage in places:
        # A twin counts as found where its first text was; without a text the title is all that a passage says.
        key = ids.setdefault(passage.id, passage.text or passage.title)
        passages.setdefault(key, passage)
        ranks.setdefault(key, {}).setdefault(aspects[query], rank)
    return [Candidate(passage, ranks[key]) for key, passage in list(passages.items())[:most]]
