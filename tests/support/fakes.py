"""Stand-ins that are small enough to be right: a retriever over a list, and replies by the fields asked for."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aspectrag.data.passages import Passage

if TYPE_CHECKING:
    from aspectrag.lms.scripted import ScriptedCall

PASSAGES = [
    Passage("d1", "Sterilisation", "Cheese money flow even sterilisation helps banks keep money flow even."),
    Passage("d2", "Dysphagia", "Dysphagia is difficulty in swallowing."),
    Passage("d3", "Odynophagia", "Odynophagia is pain in swallowing."),
    Passage("d4", "Port wine", "Port is among the best Portuguese wines from the Douro."),
    Passage(
        "d5", "Curzon Line", "The Curzon Line was drawn for peace between Poland and the Soviets; Kresy lay beyond."
    ),
    Passage("d6", "Lodge", "To find a lodge ask a member; lodges list meetings."),
    Passage("d7", "Nuclear power", "Nuclear power is low in carbon; reactors are costly."),
    Passage("d8", "Coal", "Coal is cheap and dirty."),
    Passage("d9", "Coal twin", "Coal is cheap and dirty."),
]


def words(text: str) -> set[str]:
    return {word.strip("?.,;:").lower() for word in text.split()} - {""}


class ListRetriever:
    """Scores by words in common; remembers every search."""

    def __init__(self, passages: Sequence[Passage] = PASSAGES) -> None:
        self.passages = list(passages)
        self.searches: list[tuple[list[str], int]] = []
        self.ranks: list[str] = []

    def __deepcopy__(self, memo: dict[int, object]) -> "ListRetriever":
        return self

    @property
    def queries(self) -> list[str]:
        return [query for queries, _ in self.searches for query in queries]

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        self.searches.append((list(queries), k))
        return [[p for p in self._order(query, self.passages) if p.score][:k] for query in queries]

    def rank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        self.ranks.append(query)
        return self._order(query, passages)[:k]

    def _order(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        scored = [p.with_score(len(words(query) & words(p.contents))) for p in passages]
        return sorted(scored, key=lambda p: (-(p.score or 0), p.id))


PLANS: dict[str, Any] = {
    "type": "EVIDENCE-BASED",
    "is_compare": True,
    "compare_type": "difference",
    "keywords": ["dysphagia", "odynophagia"],
    "queries": ["Why Kresy?", "Why was the Curzon Line drawn?", "Who drew the line for peace?"],
    "citations": [],
    "topic": "Nuclear power instead of coal",
    "perspectives": [
        {"opinion": "for nuclear power", "query": "Nuclear power is low in carbon"},
        {"opinion": "for coal", "query": "Coal is cheap"},
        {"opinion": "neither", "query": "reactors are costly"},
    ],
    "route": "single-step",
    "look_ups": "single",
    "sub_questions": ["Is nuclear power low in carbon?", "Is coal cheap?"],
    "seed_question": lambda call: f"Is coal cheap or dirty? ({call.prompt.count('Is coal cheap or dirty?')})",
    # Two hops and two thoughts: enough is found once something was.
    "verdict": lambda call: "end" if call.prompt.count("Is coal cheap or dirty?") > 1 else "continue",
    "relevant": lambda call: True if "passage" in call.inputs else [1, 2],
    "retrieve": True,
    "support": "fully supported",
    "usefulness": 4,
    "popularity": 3,
    "entity": "Nuclear power",
    "confidence": 3,
    "thought": lambda call: f"Coal is cheap, thought {call.prompt.count('Coal is cheap, thought')}.",
    "answered": lambda call: "Coal is cheap, thought" in call.prompt,
    "aspects": ["cost of coal", "safety of nuclear power"],
    "ranking": lambda call: list(range(call.inputs["passages"].count('"number"'), 0, -1)),
    "sentences": lambda call: [
        {"sentence": f"About {call.inputs['question']}", "passages": [1]},
        {"sentence": "Coal is cheap and dirty.", "passages": [1, 2]},
    ],
}


def by_fields(**changes: Any) -> "Callable[[ScriptedCall], Any]":
    """A reply for every stage of every program; ``changes`` replace the value of a field, or are called for it."""
    values = {**PLANS, **changes}

    def reply(call: "ScriptedCall") -> dict[str, Any]:
        out = {}
        for name in call.fields:
            value = values.get(name, f"About {call.inputs.get('question') or call.inputs.get('topic')} [1].")
            out[name] = value(call) if callable(value) else value
        return out

    return reply
