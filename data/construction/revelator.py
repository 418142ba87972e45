"""Training sets for HANRAG's control stages, made of questions with decompositions; no model is asked.

Source: HANRAG (arXiv 2509.09713), section 4.2 and appendix B. Where the paper is silent the choice is ours: how many
single-step questions stand beside the others (half as many), and that the ending stage learns from a start, where
nothing has been found, and from single-step questions too, which end after one look-up.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import dspy

from .hops import Hop, hops
from .sampling import even, some

Route = Literal["straightforward", "single-step", "compound", "complex"]
Records = list[dict[str, Any]]
# Single-step questions beside the others, for stages that must leave such a question as it is.
_SINGLE_SHARE = 0.5


def route_of(question: dspy.Example) -> Route | None:
    """How a question must be looked up, by what its data set says of it; ``None`` where it does not tell.

    A type that begins with ``compound`` is compound; otherwise 0 hops are straightforward, 1 is single-step, more are
    complex.

    Example:
        >>> route_of(dspy.Example(type="bridge", hops=2)), route_of(dspy.Example(type="compound-2", hops=1))
        ('complex', 'compound')
    """
    count = question.get("hops")
    if str(question.get("type") or "").startswith("compound"):
        return "compound"
    if count is None:
        return None
    return "straightforward" if count == 0 else "single-step" if count == 1 else "complex"


def router(
    questions: Sequence[dspy.Example], *, most: int | None = None, seed: int = 0, as_many: bool = True
) -> Records:
    """Questions with their routes, of each route as many.

    First hops of complex questions stand among the single-step ones, where the data set asks them in words.

    Args:
        questions: Of all kinds.
        most: Most records of a route.
        seed: Which are taken.
        as_many: Otherwise all are taken, and ``most`` has no effect.
    """
    records = [
        _record(question, "router", route=route) for question in questions if (route := route_of(question)) is not None
    ]
    for question in questions:
        for number, hop in enumerate(hops(question) if route_of(question) == "complex" else (), 1):
            if not hop.depends_on and hop.supporting_ids and not hop.source.startswith("template"):
                own = {"question": hop.question, "supporting_ids": list(hop.supporting_ids)}
                records.append(_record(question, f"router#{number}", route="single-step") | own)
    records = _distinct(records)
    return even(records, lambda record: record["route"], most, seed) if as_many else records


def decomposer(questions: Sequence[dspy.Example], *, most: int | None = None, seed: int = 0) -> Records:
    """Compound questions with their parts, and single-step ones, each its only part."""
    records = [
        _record(question, "decomposer", sub_questions=[part["question"] for part in question.sub_questions])
        for question in _of("compound", questions)
        if len(question.sub_questions) > 1
    ]
    singles = [
        _record(question, "decomposer", sub_questions=[question.question])
        for question in _singles(questions, len(records), seed)
    ]
    return _capped(records + singles, most, seed)


def refiner(questions: Sequence[dspy.Example], *, most: int | None = None, seed: int = 0) -> Records:
    """For every hop of a complex question what was found before it and the question it asks; single-step ones as is.

    Beside it stands what that question must find: ``next_ids``.
    """
    traced = _traced(questions)
    records = [
        _record(question, f"refiner#{number}", found=_found(trace[:number]), seed_question=hop.question)
        | {"next_ids": list(hop.supporting_ids)}
        for question, trace in traced
        for number, hop in enumerate(trace)
    ]
    singles = [
        _record(question, "refiner", found=[], seed_question=question.question)
        | {"next_ids": list(question.get("supporting_ids") or ())}
        for question in _singles(questions, len(traced), seed)
    ]
    return _capped(records + singles, most, seed)


def ending(questions: Sequence[dspy.Example], *, most: int | None = None, seed: int = 0) -> Records:
    """For every stretch of the way to an answer whether it is the end: after the last hop it is, before it is not."""
    traced = _traced(questions)
    records = [
        _record(
            question,
            f"ending#{number}",
            found=_found(trace[:number]),
            verdict="end" if number == len(trace) else "continue",
        )
        for question, trace in traced
        for number in range(len(trace) + 1)
    ]
    singles = [
        _record(question, f"ending#{number}", found=_found(trace), verdict="end" if number else "continue")
        for question in _singles(questions, len(traced), seed)
        for number, trace in enumerate(([], [Hop(question.question, tuple(question.answers))]))
    ]
    return _capped(records + singles, most, seed)


BUILDERS: Mapping[str, Callable[..., Records]] = {
    "router": router,
    "decomposer": decomposer,
    "refiner": refiner,
    "ending": ending,
}


def _of(route: Route, questions: Sequence[dspy.Example]) -> Iterator[dspy.Example]:
    return (question for question in questions if route_of(question) == route)


def _singles(questions: Sequence[dspy.Example], others: int, seed: int) -> list[dspy.Example]:
    singles = [question for question in _of("single-step", questions) if question.answers]
    return some(singles, round(others * _SINGLE_SHARE), seed)


def _traced(questions: Sequence[dspy.Example]) -> list[tuple[dspy.Example, list[Hop]]]:
    traces = [(question, hops(question)) for question in _of("complex", questions)]
    return [(question, trace) for question, trace in traces if len(trace) > 1]


def _found(trace: Sequence[Hop]) -> list[dict[str, str]]:
    return [{"question": hop.question, "answer": hop.answers[0]} for hop in trace]


def _record(question: dspy.Example, suffix: str, **fields: Any) -> dict[str, Any]:
    """A training record: id, the question, what is learnt, and where it comes from, for who checks what sets share."""
    support = list(question.get("supporting_ids") or ())
    own = {"id": f"{question.id}#{suffix}", "question": question.question}
    return own | fields | {"source_id": str(question.id), "supporting_ids": support}


def _distinct(records: Records) -> Records:
    """Without questions that stand under two routes, and the second of those that are there twice."""
    routes: dict[str, set[str]] = {}
    for record in records:
        routes.setdefault(record["question"].casefold(), set()).add(record["route"])
    counted: Counter[str] = Counter()
    kept = []
    for record in records:
        key = record["question"].casefold()
        counted[key] += 1
        if len(routes[key]) == 1 and counted[key] == 1:
            kept.append(record)
    return kept


def _capped(records: Records, most: int | None, seed: int) -> Records:
    return records if most is None else some(records, most, seed)
