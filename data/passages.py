"""The passage: the unit that is indexed, retrieved, shown to a language model and cited."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Passage:
    r"""A piece of text with a stable id.

    Attributes:
        id: Unique within a corpus.
        title: Title of the document it comes from; may be empty.
        text: The text itself, without the title.
        score: Set by the retriever that found it, higher is better; ``None`` before retrieval.
        meta: Anything else that its source said (file, page, position); never interpreted.

    Example:
        >>> Passage("a#0", "Danube", "A river.").contents
        'Danube\nA river.'
    """

    id: str
    title: str
    text: str
    score: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def contents(self) -> str:
        """Title and text as one string: what is indexed, encoded and shown."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    def with_score(self, score: float) -> "Passage":
        """The same passage with another score."""
        return replace(self, score=float(score))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {"id": self.id, "title": self.title, "text": self.text, "score": self.score, "meta": dict(self.meta)}
