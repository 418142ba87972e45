"""What a program looked up, as its trace tells it: what was asked, found, judged, read and replied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...programs.blocks.citations import unmarked
from ...programs.trace import Step, Trace, verbatim

Found = Mapping[str, Any]
READERS = ("answer", "answer_comparison", "write", "answer_directly")
ROUTERS = ("route", "classify", "judge_retrieval", "rate_popularity")
PLANNERS = ("decompose", "refine", "think", "reason_queries", "instruction_queries", "plan_debate")
ENDERS = ("judge_ending", "think")
_MERGERS = ("combine", "aggregate", "mediate", "judge_usefulness")
_RANKINGS = ("rerank", "rank")
_JUDGE = "judge_relevance"


@dataclass(frozen=True)
class LookUp:
    """Something that was looked up.

    Attributes:
        asked: The question, or what was searched with.
        found: The passages that came back.
        shown: The texts that the reading stage was given.
        reply: What came of it, without citations; empty where nothing was replied to it alone.
        within: The step in which passages were judged and read.
        retrieval: The step that found them; ``None`` where it was not recorded.
        reader: The call that read them; ``None`` where there was none.
    """

    asked: str
    found: tuple[Found, ...]
    shown: frozenset[str]
    reply: str
    within: Step
    retrieval: Step | None
    reader: Step | None

    def read(self) -> list[Found]:
        """The found passages that the reading stage was given."""
        return [passage for passage in self.found if _text(passage) in self.shown]

    def rejection(self, passage: Found) -> Step | None:
        """The judgement that a passage is not relevant, where there is one."""
        for step in self.within.children:
            if step.kind == "module" and step.name == _JUDGE and step.outputs is not None:
                asked, verdict = verbatim(step.inputs), verbatim(step.outputs)
                numbers = {each["number"] for each in asked.get("passages") or () if _text(each) == _text(passage)}
                if numbers and not numbers & set(verdict["relevant"]):
                    return step
            if step.kind == "branch" and (judged := last(step, _JUDGE)) and judged.outputs is not None:
                text = verbatim(judged.inputs)["passage"] or verbatim(judged.inputs)["title"]
                if text == _text(passage) and not verbatim(judged.outputs)["relevant"]:
                    return judged
        return None


@dataclass(frozen=True)
class Walk:
    """The way of a program from question to answer.

    Attributes:
        program: Its step.
        look_ups: What it looked up, in order.
        each_reads: Whether each look-up has a reply of its own; otherwise one stage reads what all of them found.
        asks_anew: Whether it looks up questions of its own making.
        hop_by_hop: Whether each look-up waits for the one before it.
    """

    program: Step
    look_ups: tuple[LookUp, ...]
    each_reads: bool
    asks_anew: bool
    hop_by_hop: bool

    def last(self, *names: str) -> Step | None:
        """The last call of a stage that is a stage of the program itself."""
        return last(self.program, *names)

    @property
    def merger(self) -> Step:
        """Where the replies became one answer; the program itself where no call did it."""
        inside = [last(step, *_MERGERS) for step in self.program.children if step.kind == "branch"]
        return self.last(*_MERGERS) or next((step for step in reversed(inside) if step), self.program)

    @property
    def router(self) -> Step | None:
        """Where the route was chosen; ``None`` where there is no choice."""
        return self.last(*ROUTERS)

    @property
    def ranking(self) -> Step | None:
        """Where the passages were put in another order before they were read."""
        return next((step for step in self.program.children if step.name in _RANKINGS), None)


def walk(trace: Trace, record: Mapping[str, Any]) -> Walk | None:
    """Read the way of a program out of its trace.

    Args:
        trace: Of the call.
        record: What the call returned, as a line of ``predictions.jsonl``.

    Returns:
        The way; ``None`` where the trace holds no program.
    """
    program = next((step for step in trace.walk() if step.kind == "program"), None)
    if program is None:
        return None
    found = [each for step in _retrievals(program) for each in _found(step)]
    branches = [step for step in program.children if step.kind == "branch"]
    anew = [step for step in branches if step.name.startswith(("hop ", "sub-question "))]
    rivals = [step for step in branches if last(step, *READERS)]
    if anew or record.get("route") == "complex":
        hop_by_hop = not anew or anew[0].name.startswith("hop ")
        return Walk(program, tuple(_of_branch(step, step, found) for step in anew), True, True, hop_by_hop)
    if rivals:
        return Walk(program, tuple(_of_branch(step, program, found) for step in rivals), True, False, False)
    reader = last(program, *READERS)
    thoughts = [str(part.get("answer") or "") for part in record.get("sub_questions") or ()]
    look_ups = [
        LookUp(query, passages, _shown(reader), _at(thoughts, place), program, step, reader)
        for place, (step, query, passages) in enumerate(found)
    ]
    interleaved = record.get("stopped_by") is not None
    return Walk(program, tuple(look_ups), False, interleaved, interleaved)


def last(step: Step, *names: str) -> Step | None:
    """The last of the calls of some stages that are directly inside a step."""
    return next(
        (each for each in reversed(step.children) if each.kind == "module" and each.name in names),
        None,
    )


def _of_branch(branch: Step, within: Step, shared: Sequence[tuple[Step, str, tuple[Found, ...]]]) -> LookUp:
    told, outcome = verbatim(branch.inputs), verbatim(branch.outputs)
    outcome = outcome if isinstance(outcome, Mapping) else {}
    # A hop is given its question, a part its question with passages; a rival its passage alone.
    asked = told if isinstance(told, str) else told[0] if isinstance(told, list) else str(outcome.get("question") or "")
    every = [*(each for step in _retrievals(branch) for each in _found(step)), *shared]
    own = next((each for each in every if each[1] == asked), every[0] if every and within is not branch else None)
    reader = last(branch, *READERS)
    return LookUp(
        asked, own[2] if own else (), _shown(reader), unmarked(str(outcome.get("answer") or "")),
        within, own[0] if own else None, reader,
    )  # fmt: skip


def _retrievals(step: Step) -> list[Step]:
    return [each for each in step.children if each.kind == "retrieval" and each.name == "retrieve"]


def _found(retrieval: Step) -> list[tuple[Step, str, tuple[Found, ...]]]:
    queries, found = verbatim(retrieval.inputs)["queries"], verbatim(retrieval.outputs) or []
    return [(retrieval, query, tuple(_at(found, place) or ())) for place, query in enumerate(queries)]


def _shown(reader: Step | None) -> frozenset[str]:
    given = verbatim(reader.inputs).get("passages") if reader else None
    return frozenset(_text(passage) for passage in given or ())


def _text(passage: Found) -> str:
    """By what a passage is known where its id is not shown, as where twins are merged."""
    return str(passage["text"] or passage["title"])


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else ""
