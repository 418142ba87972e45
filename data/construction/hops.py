"""The hops of a question: what is looked up on the way to its answer, one after the other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import dspy

from .relations import ARROW, asked

_EARLIER = re.compile(r"#(\d{1,2})(?!\d)")


class Record(Protocol):
    """A question of a benchmark, or a record made of one; both dictionaries and ``dspy.Example`` are such."""

    def get(self, key: str, /) -> Any:
        """The value of a field, ``None`` where there is none."""
        ...


@dataclass(frozen=True)
class Hop:
    """One look-up.

    Attributes:
        question: Self-contained: what earlier hops found stands in it.
        answers: All that count as right, the first for what is handed on.
        supporting_ids: Passages that hold the answer; empty where the data set does not say.
        depends_on: Numbers of the earlier hops whose answers stand in it, from 1.
        source: Who put it so, in the data set's words; begins with ``template`` where nobody did.
    """

    question: str
    answers: tuple[str, ...]
    supporting_ids: tuple[str, ...] = ()
    depends_on: tuple[int, ...] = ()
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The hop as a sub-question of a record."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def hops(question: dspy.Example) -> list[Hop]:
    """The hops of a question with a decomposition; none where it has none that can be followed.

    ``#1`` in a sub-question (MuSiQue) stands for the answer to the first, and is replaced by it. A decomposition cannot
    be followed where a part has no question or answer, or refers to one that does not come before it. Where parts do
    not wait for one another (:func:`in_turn`), ``#1`` is what it says: a first place.

    Args:
        question: A question of a benchmark.

    Example:
        >>> first = {"question": "Green >> performer", "answers": ["Steve Hillage"]}
        >>> second = {"question": "Who is the spouse of #1 ?", "answers": ["Miquette Giraudy"], "supporting_id": "p2"}
        >>> for hop in hops(dspy.Example(sub_questions=[first, second])):
        ...     print(hop.question, hop.depends_on, hop.supporting_ids)
        Who is the performer of Green? () ()
        Who is the spouse of Steve Hillage? (1,) ('p2',)
    """
    found: list[Hop] = []
    waiting = in_turn(question)
    for part in question.get("sub_questions") or ():
        hop = _hop(part, found, waiting)
        if hop is None:
            return []
        found.append(hop)
    return found


def followed(question: dspy.Example) -> dspy.Example:
    """The question with its hops, as they are asked, for sub-questions; unchanged where they cannot be followed.

    What two sets share is seen in these (:func:`aspectrag.data.construction.splitting.marks`), not in ``#1``.
    """
    parts = [hop.to_dict() for hop in hops(question)]
    return question.copy(sub_questions=parts) if parts else question


def in_turn(record: Record) -> bool:
    """Whether parts of a question may wait for one another: those of a compound one, or of one look-up, do not."""
    return record.get("hops") not in (0, 1) and not str(record.get("type") or "").startswith("compound")


def waits(text: str, before: int) -> bool:
    """Whether a part names the answer to one of so many before it, and is no question until that is put in.

    Example:
        >>> waits("Who founded #1?", 1), waits("Who had the #1 hit?", 0)
        (True, False)
    """
    return any(0 < number <= before for number in _named(text))


def _named(text: str) -> set[int]:
    return {int(number) for number in _EARLIER.findall(text)}


def _hop(part: Mapping[str, Any], before: Sequence[Hop], waiting: bool) -> Hop | None:
    text, answers = part.get("question"), part.get("answers")
    if not isinstance(text, str) or not text.strip() or not answers or not str(answers[0]).strip():
        return None
    numbers = _named(text) if waiting else set()
    if any(not 0 < number <= len(before) for number in numbers):
        return None
    if numbers:
        text = _EARLIER.sub(lambda match: before[int(match[1]) - 1].answers[0], text)
    support = part.get("supporting_ids") or ([part["supporting_id"]] if part.get("supporting_id") else [])
    numbers |= set(part.get("depends_on") or ())
    source = "template over a relation" if ARROW in text else str(part.get("source") or "")
    return Hop(asked(text), tuple(map(str, answers)), tuple(map(str, support)), tuple(sorted(numbers)), source)
