"""Entities: what the passages of one title are about."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ..passages import Passage
from .sampling import some

_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True)
class Entity:
    """A title, and passages of it.

    Attributes:
        title: As the corpus has it.
        passages: In the order of the corpus.
    """

    title: str
    passages: tuple[Passage, ...]

    @property
    def name(self) -> str:
        """The title without what only tells it from others of that name.

        Example:
            >>> Entity("Mercury (planet)", ()).name
            'Mercury'
        """
        return _BRACKETS.sub("", self.title) or self.title


def entities(
    passages: Iterable[Passage], *, least: int = 2, most: int = 10, limit: int | None = None, seed: int = 0
) -> list[Entity]:
    """Group the passages of a corpus by title.

    Source: HANRAG (arXiv 2509.09713), its compound benchmark: random entities, 10 documents each.

    Args:
        passages: The corpus; passages without title or text are passed over.
        least: Entities with fewer passages are left out: their questions could not be joined with others.
        most: Passages of an entity; of more, a random sample is kept.
        limit: Most entities; of more, a random sample. A larger one includes the smaller.
        seed: Which are kept.

    Returns:
        Entities in the order of the corpus.

    Example:
        >>> corpus = [Passage("1", "Danube", "Long."), Passage("2", "Rhine", "Wide."), Passage("3", "Danube", "Deep.")]
        >>> [(entity.title, len(entity.passages)) for entity in entities(corpus)]
        [('Danube', 2)]
    """
    by_title: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        if (title := " ".join(passage.title.split())) and passage.text.strip():
            by_title[title].append(passage)
    titles = [title for title, found in by_title.items() if len(found) >= least]
    order = sorted(titles)
    random.Random(seed).shuffle(order)
    kept = set(order[:limit])
    return [
        Entity(title, tuple(some(by_title[title], most, seed=f"{seed} {title}"))) for title in titles if title in kept
    ]
