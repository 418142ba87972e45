"""Passages that are one text under several ids, as where two benchmarks are over one encyclopedia."""

from collections.abc import Iterable, Mapping

import dspy

from ..duplicates import fingerprint
from ..passages import Passage


def twins(passages: Iterable[Passage]) -> dict[str, str]:
    """The id of the first passage with the same text, by the ids of the others; the title makes no difference.

    Example:
        >>> twins([Passage("a:1", "Oder", "A river."), Passage("b:7", "", "A river."), Passage("b:8", "", "A lake.")])
        {'b:7': 'a:1'}
    """
    first: dict[bytes, str] = {}
    found: dict[str, str] = {}
    for passage in passages:
        known = first.setdefault(fingerprint(" ".join(passage.text.split())), passage.id)
        if known != passage.id:
            found[passage.id] = known
    return found


def renamed(question: dspy.Example, names: Mapping[str, str]) -> dspy.Example:
    """The question with one id for each supporting text, its sub-questions too.

    Example:
        >>> renamed(dspy.Example(supporting_ids=["b:7", "b:8"]), {"b:7": "a:1"}).supporting_ids
        ['a:1', 'b:8']
    """
    parts = [
        part | _one(part, names, "supporting_id") | _all(part, names, "supporting_ids")
        for part in question.get("sub_questions") or ()
    ]
    return question.copy(sub_questions=parts, **_all(question, names, "supporting_ids"))


def _one(record: Mapping, names: Mapping[str, str], key: str) -> dict[str, str]:
    return {key: names.get(record[key], record[key])} if record.get(key) else {}


def _all(record: Mapping | dspy.Example, names: Mapping[str, str], key: str) -> dict[str, list[str]]:
    return {key: list(dict.fromkeys(names.get(each, each) for each in record.get(key) or ()))}
