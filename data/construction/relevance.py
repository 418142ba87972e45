"""Which passages help with a question, and which only look as if they did: what a judge of relevance learns from.

Source: HANRAG (arXiv 2509.09713), section 4.2 and appendix B, which has a large model label what was retrieved. Here
the supporting passages of the data set are the relevant ones, and retrieved passages that cannot help the others;
a ``judge`` may be asked about these as well.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from ..index.retriever import Retriever
from ..passages import Passage
from .hops import hops
from .revelator import route_of
from .sampling import some
from .words import holds

Judge = Callable[[str, Passage], bool]


@dataclass(frozen=True)
class LookUp:
    """A question that one look-up answers, and the passages that do.

    Attributes:
        id: Of the question, or of the hop within it.
        question: Self-contained.
        answers: All that count as right.
        supporting_ids: Passages that hold the answer.
        near_ids: Passages that hold other hops of the same question: not to be held irrelevant.
        source_id: The question of the data set.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    supporting_ids: tuple[str, ...]
    near_ids: tuple[str, ...]
    source_id: str


def look_ups(questions: Sequence[dspy.Example]) -> Iterator[LookUp]:
    """Single-step questions, parts of compound ones and hops of complex ones, whose supporting passages are known."""
    for question in questions:
        near = tuple(map(str, question.get("supporting_ids") or ()))
        route = route_of(question)
        if route == "single-step" and near and question.answers:
            yield LookUp(str(question.id), question.question, tuple(question.answers), near, near, str(question.id))
        elif route in ("compound", "complex"):
            for number, hop in enumerate(hops(question), 1):
                if hop.supporting_ids:
                    identity = f"{question.id}#{number}"
                    yield LookUp(
                        identity, hop.question, hop.answers, hop.supporting_ids, near + hop.supporting_ids,
                        str(question.id),
                    )  # fmt: skip


def relevance(
    questions: Sequence[dspy.Example],
    passages: Mapping[str, Passage],
    retriever: Retriever,
    *,
    negatives: int = 1,
    depth: int = 20,
    judge: Judge | None = None,
    most: int | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Questions with a passage each and whether it helps.

    A retrieved passage is a negative, the best ranked first, if it supports no part of the question, holds none of the
    answers, is not titled as a supporting passage, and its title is not named in the question: about a thing that the
    question names it would be relevant.

    Args:
        questions: With ``supporting_ids``.
        passages: Texts of the supporting passages, by id; what is not there is passed over.
        retriever: Over the passages that negatives are taken from.
        negatives: For each supporting passage, at most.
        depth: How many retrieved passages are looked through.
        judge: Called with question and passage for every negative; one that it holds relevant is left out.
        most: Most look-ups that records are made of.
        seed: Which.

    Returns:
        Records with ``question``, ``title``, ``passage``, ``relevant``; ``supporting_ids`` are those of the question.
    """
    asked = [each for each in look_ups(questions) if any(known in passages for known in each.supporting_ids)]
    if most is not None:
        asked = some(asked, most, seed)
    records = []
    for each, retrieved in zip(asked, retriever.search([one.question for one in asked], depth), strict=True):
        gold = [passages[known] for known in each.supporting_ids if known in passages]
        wrong: list[Passage] = []
        for passage in retrieved:
            if len(wrong) == negatives * len(gold):
                break
            if _cannot_help(passage, each, gold) and not (judge and judge(each.question, passage)):
                wrong.append(passage)
        records += [_record(each, passage, relevant=True) for passage in gold]
        records += [_record(each, passage, relevant=False) for passage in wrong]
    return records


def _cannot_help(passage: Passage, asked: LookUp, gold: Sequence[Passage]) -> bool:
    if passage.id in asked.near_ids or any(passage.text == known.text for known in gold):
        return False
    if any(holds(passage.contents, answer) for answer in asked.answers):
        return False
    titles = {known.title.casefold() for known in gold}
    return not passage.title or (passage.title.casefold() not in titles and not holds(asked.question, passage.title))


def _record(asked: LookUp, passage: Passage, *, relevant: bool) -> dict[str, Any]:
    return {
        "id": f"{asked.id}#{passage.id}",
        "question": asked.question,
        "title": passage.title,
        "passage": passage.text,
        "relevant": relevant,
        "source_id": asked.source_id,
        "supporting_ids": list(asked.supporting_ids),
    }
