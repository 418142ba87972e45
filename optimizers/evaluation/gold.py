"""What a benchmark says of the way to an answer: its parts, the passages that hold them, the route that suits it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from ...data.construction.hops import hops, in_turn
from ...data.construction.revelator import route_of
from ...data.construction.words import content_words, holds
from ...programs.trace import plain
from ..metrics.answer_hit import answer_hit
from ..metrics.normalisation import VERDICTS, normalise
from ..metrics.reading import answers_of
from ..metrics.routes import expected_route, expected_type

# What a longer reference says is not found again word for word.
_MOST_WORDS = 25


@dataclass(frozen=True)
class Support:
    """The passages that hold what is needed.

    Attributes:
        names: Their ids, or titles; a chunk of a passage counts as the passage.
        by: Which of the two.
        every: Whether all are needed; otherwise one is enough.
        holding: Only a passage that holds one of these counts, where it is not known which passage is for what.
    """

    names: tuple[str, ...] = ()
    by: Literal["id", "title"] = "id"
    every: bool = False
    holding: tuple[str, ...] = ()

    def missing(self, passages: Iterable[Mapping[str, Any]]) -> list[str]:
        """Names of the passages that are needed and not there.

        Example:
            >>> Support(("a", "b")).missing([{"id": "a#0"}]), Support(("a", "b"), every=True).missing([{"id": "a#0"}])
            ([], ['b'])
        """
        there = {name for passage in passages for name in self._names_of(passage)}
        return [] if there and not self.every else [name for name in self.names if name not in there]

    def is_in(self, passage: Mapping[str, Any]) -> bool:
        """Whether it is one of them."""
        return bool(self._names_of(passage))

    def _names_of(self, passage: Mapping[str, Any]) -> list[str]:
        said = str(passage[self.by])
        names = [name for name in self.names if said == name or (self.by == "id" and said.startswith(f"{name}#"))]
        if names and self.holding and not answer_hit([f"{passage['title']}\n{passage['text']}"], self.holding):
            return []
        return names


@dataclass(frozen=True)
class Part:
    """Something that must be found: the question itself, one of its parts, or a hop.

    Attributes:
        question: As it is asked on its own.
        answers: All that count as right; those that a text can hold.
        support: The passages that hold it.
        after: Numbers of the hops, from 0, whose answers it needs.
    """

    question: str
    answers: tuple[str, ...]
    support: Support
    after: tuple[int, ...] = ()

    def held_by(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts holds an answer, as whole words."""
        return bool(self.answers) and bool(answer_hit(list(texts), self.answers))


@dataclass(frozen=True)
class Gold:
    """What is known of a question.

    Attributes:
        kind: The route that suits it, in HANRAG's words; ``None`` where that is not known.
        type: Its type in the benchmark's words.
        whole: The question, its answers, and all passages that support it.
        parts: The parts of a compound question or the hops of a complex one; none where they are not known.
        side_by_side: Whether the parts do not wait for one another.
        count: How many look-ups it takes; ``None`` where that is not known.
    """

    kind: str | None
    type: str
    whole: Part
    parts: tuple[Part, ...]
    side_by_side: bool
    count: int | None

    @property
    def is_known(self) -> bool:
        """Whether there is anything by which to tell where an answer was lost."""
        return bool(self.whole.support.names or self.parts)

    @property
    def weighs(self) -> bool:
        """Whether the answer is a verdict over what was found, which no reply to a part need hold."""
        return "comparison" in self.type or bool(
            self.whole.answers and {normalise(answer) for answer in self.whole.answers} <= VERDICTS
        )


def gold_of(example: dspy.Example) -> Gold:
    """Read what is known of a question of a benchmark.

    Example:
        >>> part = {"question": "Who wrote Emma?", "answers": ["Austen"], "supporting_id": "p"}
        >>> gold = gold_of(dspy.Example(question="?", type="compound-2", hops=1, sub_questions=[part, part]))
        >>> gold.kind, gold.side_by_side, gold.parts[0].support.names
        ('compound', True, ('p',))
    """
    kind = expected_route(example) or route_of(example)
    several = kind in ("compound", "complex")
    overall = _support(example.get("supporting_ids"), example.get("supporting_titles"), every=several)
    whole = Part(example.question, _found_in_words(answers_of(example)), overall)
    parts = _parts(example, overall) if several or kind is None else ()
    side_by_side = bool(parts) and (kind == "compound" or not in_turn(example))
    count = len(parts) or example.get("hops")
    return Gold(kind, expected_type(example) or "", whole, parts, side_by_side, count)


def likeness(part: str, asked: str, known: frozenset[str] = frozenset()) -> float:
    """How much a question asks what a part does: F1 of the words that carry meaning, without those that are known.

    Args:
        part: The part.
        asked: The question.
        known: Words that tell no part from the others, since all have them.

    Example:
        >>> likeness("In which city was Ada born?", "Where was Ada born?", frozenset({"ada"}))
        0.6666666666666666
    """
    expected, given = set(content_words(part)), set(content_words(asked))
    if expected - known:
        expected, given = expected - known, given - known
    return 2 * len(expected & given) / (len(expected) + len(given)) if expected or given else 0.0


def shared_words(parts: Sequence[Part]) -> frozenset[str]:
    """The words that all parts have."""
    words = [frozenset(content_words(part.question)) for part in parts]
    return frozenset.intersection(*words) if len(words) > 1 else frozenset()


def _parts(example: dspy.Example, overall: Support) -> tuple[Part, ...]:
    found: list[Part] = []
    named = any(part.get("depends_on") for part in example.get("sub_questions") or ())
    known = hops(example)
    records = example.get("sub_questions") or () if known else ()
    for hop, record in zip(known, records, strict=True):
        answers = _found_in_words(hop.answers)
        own = _support(hop.supporting_ids, [record["title"]] if record.get("title") else ())
        in_words = tuple(answer for answer in answers if normalise(answer) not in VERDICTS)
        support = own if own.names else Support(overall.names, overall.by, holding=in_words)
        after = [number - 1 for number in hop.depends_on]
        if not named and not after and in_turn(example):
            # Sets that put the answer into the next question do not number it.
            after = [n for n, each in enumerate(found) if each.answers and holds(hop.question, each.answers[0])]
        found.append(Part(hop.question, answers, support, tuple(after)))
    return tuple(found) if len(found) > 1 else ()


def _support(ids: Sequence[str] | None, titles: Sequence[str] | None, *, every: bool = False) -> Support:
    # Traces mask whatever looks like a key: such an id could not be found again.
    if names := tuple(dict.fromkeys(id for id in ids or () if plain(id) == id)):
        return Support(names, "id", every)
    return Support(tuple(dict.fromkeys(titles or ())), "title", every)


def _found_in_words(answers: Sequence[str]) -> tuple[str, ...]:
    return tuple(answer for answer in answers if answer.strip() and len(answer.split()) <= _MOST_WORDS)
