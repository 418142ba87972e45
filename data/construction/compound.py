"""Compound questions: several easy ones about one thing, asked at once.

Source: HANRAG (arXiv 2509.09713), its compound benchmark: two to four questions about one entity, their answers joined
by ``&&``. Which questions come together, and how they are put in one without a model, is ours.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import dspy

from .words import FUNCTION_WORDS, QUESTION_MARKS, tokens

LEAST, MOST = 2, 4
SEPARATOR = " && "
_MARKS = "".join(QUESTION_MARKS)
# The last two make one sentence of all.
_JOINTS = ("Also,", "And", "and also", "", ", and", " and")


@dataclass(frozen=True)
class Part:
    """A question that is part of a compound one.

    Attributes:
        question: As it is asked alone.
        answers: All that count as right, the best first.
        supporting_id: The passage that holds the answer; may be empty.
        source_id: The question of another set that it was; may be empty.
    """

    question: str
    answers: tuple[str, ...]
    supporting_id: str = ""
    source_id: str = ""


@dataclass(frozen=True)
class Group:
    """Parts that are to be asked at once.

    Attributes:
        id: Unique, and the same each time.
        entity: What they are all about.
        parts: Two to four.
    """

    id: str
    entity: str
    parts: tuple[Part, ...]


def single_parts(questions: Iterable[dspy.Example]) -> list[tuple[str, Part]]:
    """Single-hop questions that have an answer, one article and no parts, each with the title of that article.

    Example:
        >>> one = dspy.Example(id="q", question="who wrote it", answers=["Ann"], hops=1, supporting_titles=["It"])
        >>> single_parts([one])
        [('It', Part(question='Who wrote it?', answers=('Ann',), supporting_id='', source_id='q'))]
    """
    found = []
    for question in questions:
        titles = list(dict.fromkeys(question.get("supporting_titles") or ()))
        # A compound question has one hop too, and its entity for a title.
        single = question.get("hops") in (None, 1) and len(titles) == 1 and not question.get("sub_questions")
        if single and question.answers and tokens(question.question):
            support = question.get("supporting_ids") or [""]
            part = Part(as_question(question.question), tuple(question.answers), str(support[0]), str(question.id))
            found.append((titles[0], part))
    return found


def groups(parts: Iterable[tuple[str, Part]], seed: int = 0) -> list[Group]:
    """Put questions about one entity together, two to four at random, each in one group at most.

    Within a group no two have the same words, or an answer in common: their answers could not be told apart.

    Args:
        parts: Questions with their entities.
        seed: Which come together; parts of one entity do not depend on those of others.
    """
    by_entity: dict[str, list[Part]] = defaultdict(list)
    for entity, part in parts:
        by_entity[entity].append(part)
    made = []
    for entity, found in by_entity.items():
        rng = random.Random(f"{seed} {entity}")
        left = rng.sample(found, len(found))
        number = 0
        while len(group := _distinct(left, rng.randint(LEAST, MOST))) >= LEAST:
            number += 1
            made.append(Group(f"{entity}#{number}", entity, tuple(group)))
            left = [part for part in left if part not in group]
    return made


def _distinct(parts: Sequence[Part], most: int) -> list[Part]:
    chosen: list[Part] = []
    seen: set[tuple[str, ...]] = set()
    for part in parts:
        said = [("question", part.question), *(("answer", answer) for answer in part.answers)]
        keys = {(field, *tokens(text.casefold())) for field, text in said}
        if len(chosen) < most and not keys & seen:
            chosen.append(part)
            seen |= keys
    return chosen


def as_question(text: str) -> str:
    """A question as it is written: with a capital first and its mark last.

    Example:
        >>> as_question("who got the first  nobel prize ")
        'Who got the first nobel prize?'
    """
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith(QUESTION_MARKS) else text.rstrip(".") + "?"


def as_typed(question: str) -> str:
    """A question as it is typed in haste: in small letters, without a mark.

    Example:
        >>> as_typed("Who got the first Nobel prize?")
        'who got the first nobel prize'
    """
    return question.lower().rstrip(_MARKS).rstrip()


def join_verbatim(questions: Sequence[str], joint: str = "Also,") -> str:
    """Ask questions one after the other, in their own words: what needs no model, and loses nothing.

    Args:
        questions: Two or more, each with its mark.
        joint: What stands before the last; one that begins with a comma or a blank makes one sentence of them.

    Example:
        >>> join_verbatim(["Where is it?", "Who built it?", "When was it built?"])
        'Where is it? Who built it? Also, when was it built?'
        >>> join_verbatim(["Where is it?", "Who built it?", "When was it built?"], ", and")
        'Where is it, who built it, and when was it built?'
    """
    *before, last = questions
    last = f"{joint} {_running(last) if joint else last}"
    if joint.startswith((",", " ")):
        first, *more = (each.rstrip(_MARKS) for each in before)
        return ", ".join([first, *map(_running, more)]) + last
    return " ".join([*before, last.strip()])


def _running(question: str) -> str:
    """As it goes on within a sentence; a name keeps its capital."""
    word = question.split(" ", 1)[0]
    return question[:1].lower() + question[1:] if word.casefold() in FUNCTION_WORDS else question


def from_singles(questions: Sequence[dspy.Example], rounds: int = 1, seed: int = 0) -> list[dspy.Example]:
    """Compound questions made of single ones about the same thing, to learn from; joined in several ways.

    Args:
        questions: Single and other ones; only the single ones are used.
        rounds: How often a question may be a part, each time with others.
        seed: Which come together, and how they are joined.

    Example:
        >>> asked = [dspy.Example(id=w, question=f"{w} is it", answers=[w], hops=1, supporting_titles=["It"],
        ...          supporting_ids=["p"]) for w in ("where", "what")]
        >>> [each.type for each in from_singles(asked)]
        ['compound-2']
    """
    made: dict[frozenset[str], dspy.Example] = {}
    for turn in range(rounds):
        for group in groups(single_parts(questions), seed + turn):
            joint = random.Random(f"{seed} {turn} {group.id}").choice(_JOINTS)
            text = join_verbatim([part.question for part in group.parts], joint)
            record = compound_record(replace(group, id=f"{group.id}.{turn}"), text, "verbatim")
            asked = frozenset(part.question for part in group.parts)
            made.setdefault(asked, dspy.Example(record).with_inputs("question"))
    return list(made.values())


def compound_record(group: Group, question: str, made_by: str, titles: Sequence[str] = ()) -> dict[str, Any]:
    """The record of a compound question, in the layout of the other sets.

    Args:
        group: Its parts.
        question: They joined.
        made_by: What joined them: ``verbatim``, or the model.
        titles: Titles of the supporting articles; the entity by default.
    """
    support = list(dict.fromkeys(part.supporting_id for part in group.parts if part.supporting_id))
    return {
        "id": f"compound:{group.id}",
        "dataset": "compound",
        "question": question,
        "answers": [SEPARATOR.join(part.answers[0] for part in group.parts)],
        "type": f"compound-{len(group.parts)}",
        "hops": 1,  # none waits for another
        "supporting_titles": list(titles) or [group.entity],
        "supporting_ids": support,
        "support_kind": "annotated" if support else "none",
        "sub_questions": [_filled(part) for part in group.parts],
        "meta": {"entity": group.entity, "made_by": made_by},
    }


def _filled(part: Part) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(part).items() if value}
