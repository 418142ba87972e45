"""Why an answer is wrong: the first stage that lost it, by what the benchmark says of the way to the answer.

Stages are asked in the order in which data flows. Several parts of a compound question may be lost: the stage that
comes first counts.

- route: a router chose a way that cannot make the look-ups the question needs, such as ``single-step`` for a complex
  one; a way that can do more is not blamed. Of Typed-RAG: a path of another type.
- ending: hops ended by verdict, or at the most allowed, before there were as many as needed, and no hop asked for what
  is missing; or they went on to the most allowed although all had been found
- decomposition: no sub-question or hop asks for what is missing
- retrieval: the look-up that asks for it did not find the passage that holds it
- relevance filter: the passage was found and not shown to the stage that answers: judged away, ranked behind, or left
  out
- reading: it was shown, and the reply does not hold the answer; or nothing was looked up, and none was needed
- aggregation: a reply holds the answer, and the final answer does not
- failed: the call ended in an error
- unknown: there is nothing to tell it by; the reason says what is missing

A question asks for a part where their words that carry meaning agree to an F1 of 0.3, words that all parts have left
aside; each part of a compound question has one such sub-question at most. A part or hop is also asked for by a look-up
that found its passage and is like none of them. A text holds an answer where the answer stands in it as whole words,
normalised. Of a complex question the first hop counts that no reply answers and no later hop got by without. A question
of one look-up needs one of its supporting passages, others need all; a part whose own passage is not known needs a
supporting one that holds its answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import dspy
import numpy as np
from scipy.optimize import linear_sum_assignment

from ...programs.blocks.citations import unmarked
from ...programs.trace import Step, Trace, verbatim
from ...signatures.han import Complexity
from ...signatures.typed import QuestionType
from ...texts import clipped
from ..metrics.accuracy import accuracy
from .gold import Gold, Part, gold_of, likeness, shared_words
from .look_ups import ENDERS, PLANNERS, READERS, LookUp, Walk, walk

Stage = Literal[
    "route", "ending", "decomposition", "retrieval", "relevance filter", "reading", "aggregation", "failed", "unknown"
]  # fmt: skip
STAGES: tuple[Stage, ...] = get_args(Stage)
# From this likeness on a question asks for a part.
_ASKS = 0.3
_KINDS, _TYPES = get_args(Complexity), get_args(QuestionType)
# The most that a route can do, as the place of a kind; what is not named can do all that its program can.
_SERVES = {"straightforward": 0, "none": 0, "single-step": 1, "compound": 2}
# Typed-RAG answers these in the same way.
_PLAIN_TYPES = {"FACTOID", "EVIDENCE-BASED", "NOT-A-QUESTION"}
_clip = partial(clipped, most=80)


@dataclass(frozen=True)
class Diagnosis:
    """Where an answer was lost.

    Attributes:
        stage: The first stage that lost it.
        reason: Why it is held to be that one, in a line.
        step: The step of the trace that lost it; ``None`` where there is none.
    """

    stage: Stage
    reason: str
    step: Step | None = None


def diagnose(
    example: dspy.Example, answered: dspy.Prediction | Mapping[str, Any], trace: Trace | None = None
) -> Diagnosis:
    """Name the first stage that lost a wrong answer.

    Args:
        example: The question, as benchmarks give it.
        answered: What a program returned, or its record in ``predictions.jsonl``.
        trace: Of the call; by default the one that the result has.

    Example:
        >>> asked = dspy.Example(question="Who wrote Emma?", answers=["Jane Austen"], hops=1, supporting_ids=["p"])
        >>> diagnose(asked, {"answer": None, "error": "TimeoutError: no answer"}).stage
        'failed'
        >>> diagnose(asked, {"answer": "Fanny Burney"}).reason
        'no trace was kept'
    """
    if trace is None:
        trace = getattr(answered, "_trace", None)
    record = verbatim(answered.toDict() if isinstance(answered, dspy.Prediction) else dict(answered))
    if record.get("error"):
        broken = [step for step in trace.walk() if step.error] if trace else []
        return Diagnosis("failed", _clip(record["error"]), broken[-1] if broken else None)
    gold, answer = gold_of(example), unmarked(str(record.get("answer") or ""))
    lost = [part for part in gold.parts if not accuracy(answer, part.answers)] if gold.side_by_side else []
    if not (gold.is_known or gold.whole.answers):
        return Diagnosis("unknown", "neither supporting passages nor answers that a text could hold are known")
    if not lost and (gold.side_by_side or accuracy(answer, gold.whole.answers)):
        return Diagnosis("unknown", "nothing was lost: the answer holds what was asked, its form alone costs it marks")
    way = walk(trace, record) if trace else None
    if way is None:
        return Diagnosis("unknown", "no trace was kept" if trace is None else "the trace holds no program")
    return _misrouted(gold, way, record) or _Losses(gold, way, record, answer).first(lost)


def _misrouted(gold: Gold, way: Walk, record: Mapping[str, Any]) -> Diagnosis | None:
    taken = str(record.get("route") or "")
    router = way.router
    if router is None and taken == "none":  # chosen by the confidence of the answer itself
        router = way.last(*READERS)
    if router is None:
        return None
    if taken in _TYPES:
        plain = taken in _PLAIN_TYPES and gold.type in _PLAIN_TYPES
        wrong = gold.type in _TYPES and taken != gold.type and not plain
        return Diagnosis("route", f"taken for {taken}, it is {gold.type}", router) if wrong else None
    if gold.kind not in _KINDS:
        return None
    # Of Adaptive-RAG's single look-up and its chain, the chain alone can follow hops.
    most = 2 if (router.name, taken) == ("classify", "single") else _SERVES.get(taken, len(_KINDS))
    if most >= _KINDS.index(gold.kind):
        return None
    return Diagnosis("route", f"taken for {taken}, it needs the look-ups of a {gold.kind} question", router)


@dataclass(frozen=True)
class _Losses:
    """What one wrong answer is judged by."""

    gold: Gold
    way: Walk
    record: Mapping[str, Any]
    answer: str

    def first(self, lost: Sequence[Part]) -> Diagnosis:
        """The first loss on the way to the answer; ``lost`` are the parts that a compound question lacks."""
        if not (self.way.look_ups or self.way.hop_by_hop):
            said = f"no retrieval: answered from memory with {_clip(self.answer)!r}"
            return Diagnosis("reading", said, self.way.last(*READERS))
        if self.gold.side_by_side:
            asked = self._one_to_one()
            found = [self._of_part(part, asked[self.gold.parts.index(part)]) for part in lost]
            return min(found, key=lambda each: STAGES.index(each.stage))
        if self.gold.parts and self.way.asks_anew:
            return self._of_hops()
        if self.gold.whole.support.every:
            return self._of_part(self.gold.whole, self.way.look_ups, counted=True)
        return self._of_part(self.gold.whole, self._asking(self.gold.whole))

    def _of_hops(self) -> Diagnosis:
        parts, replies = self.gold.parts, [each.reply for each in self.way.look_ups]
        reached = [part.held_by(replies) for part in parts]
        for place in reversed(range(len(parts))):
            # What a later hop needs was known, if no reply says so.
            for earlier in parts[place].after if reached[place] else ():
                reached[earlier] = True
        for part in [part for part, held in zip(parts, reached, strict=True) if not held]:
            found = self._of_part(part, self._asking(part))
            # One stage reads what all look-ups found: it may know what no thought says.
            if self.way.each_reads or found.stage != "reading":
                return found
        if not self.way.each_reads:
            return self._misread(self.way.look_ups)
        return self._endless(replies) or self._unmerged()

    def _of_part(self, part: Part, asking: Sequence[LookUp], *, counted: bool = False) -> Diagnosis:
        """What lost a part, given the look-ups that ask for it; ``counted``: where they ask for more than it alone."""
        if self.way.each_reads and part.held_by(each.reply for each in self.way.look_ups):
            return self._unmerged()
        if not asking:
            return self._ended() or self._not_asked(part)
        early = self._ended() if counted else None
        if not part.support.names:
            return early or Diagnosis("unknown", f"no supporting passage is known for {_clip(part.question)!r}")
        if names := part.support.missing(p for each in asking for p in each.found):
            many = len(part.support.names)
            found = f"{many - len(names)} of {many}" if many > 1 and part.support.every else "no"
            said = f"{found} supporting passages were found for {_clip(part.question)!r}"
            return early or Diagnosis("retrieval", f"{said} (missing: {_clip(', '.join(names))})", asking[-1].retrieval)
        if names := part.support.missing(p for each in asking for p in each.read()):
            return self._filtered(part, asking, names)
        if not part.answers:
            return Diagnosis("unknown", f"the passages were read; no answer to {_clip(part.question)!r} is known")
        if self.gold.weighs and part is self.gold.whole and len(self.way.look_ups) > 1 and self.way.each_reads:
            return Diagnosis("unknown", "all passages were read; what each reply ought to hold is not known")
        return self._misread([each for each in asking if any(part.support.is_in(p) for p in each.read())])

    def _filtered(self, part: Part, asking: Sequence[LookUp], names: Sequence[str]) -> Diagnosis:
        lacking = replace(part.support, names=tuple(names))
        each, passage = next(
            (each, p) for each in asking for p in each.found if lacking.is_in(p) and p not in each.read()
        )
        title = _clip(str(passage["title"] or passage["id"]))
        if rejection := each.rejection(passage):
            return Diagnosis("relevance filter", f"{title!r} was found and judged not to be relevant", rejection)
        if self.way.ranking and not self.way.each_reads:
            return Diagnosis("relevance filter", f"{title!r} was found and ranked behind", self.way.ranking)
        said = f"{title!r} was found and left out of what is read"
        return Diagnosis("relevance filter", said, each.reader or each.within)

    def _misread(self, asking: Sequence[LookUp]) -> Diagnosis:
        read = asking[-1]
        said = f"the passages were read, the reply is {_clip(read.reply if self.way.each_reads else self.answer)!r}"
        return Diagnosis("reading", said, read.reader or read.within)

    def _unmerged(self) -> Diagnosis:
        return Diagnosis(
            "aggregation", f"a reply holds it, the final answer does not: {_clip(self.answer)!r}", self.way.merger
        )

    def _ended(self) -> Diagnosis | None:
        """Whether hops ended before there were as many as the question takes."""
        made, needed, by = len(self.way.look_ups), self.gold.count or 0, self.record.get("stopped_by")
        if not self.way.hop_by_hop or made >= needed:
            return None
        hops = f"{made} of {needed} hops"
        if by == "verdict":
            return Diagnosis("ending", f"held to be enough after {hops}", self.way.last(*ENDERS))
        if by == "max_steps":
            return Diagnosis("ending", f"no more are allowed than {hops}", self.way.program)
        return Diagnosis("decomposition", f"no further question after {hops} ({by})", self.way.last(*PLANNERS))

    def _endless(self, replies: Sequence[str]) -> Diagnosis | None:
        """Whether hops went on to the most allowed although all had been found."""
        enough = next(
            n for n in range(len(replies) + 1)
            if all(p.held_by(replies[:n]) for p in self.gold.parts if p.held_by(replies))
        )  # fmt: skip
        judge, more = self.way.last(*ENDERS), len(replies) - enough
        if self.record.get("stopped_by") != "max_steps" or judge is None or not more:
            return None
        return Diagnosis("ending", f"all was found after {enough} hops, {more} more were made", judge)

    def _not_asked(self, part: Part) -> Diagnosis:
        what = "hop" if self.way.hop_by_hop else "sub-question"
        step = self.way.last(*PLANNERS) or self.way.program
        return Diagnosis("decomposition", f"no {what} asks {_clip(part.question)!r}", step)

    def _asking(self, part: Part) -> list[LookUp]:
        """The look-ups that ask for a hop, or for the question itself."""
        if not self.way.asks_anew:
            return list(self.way.look_ups)
        return [
            each
            for each in self.way.look_ups
            if self._is_like(part, each)
            or (not self.way.each_reads and self._led_to(part, each))
            or (
                any(part.support.is_in(passage) for passage in each.found)
                and not any(self._is_like(other, each) for other in self.gold.parts)
            )
        ]

    def _is_like(self, part: Part, look_up: LookUp) -> bool:
        # The question itself is like its last hop, and cannot ask for what is not known yet.
        if part.after and look_up.asked.casefold() == self.gold.whole.question.strip().casefold():
            return False
        return likeness(part.question, look_up.asked, shared_words(self.gold.parts)) >= _ASKS

    def _led_to(self, part: Part, look_up: LookUp) -> bool:
        """Whether a search of an interleaved chain is for a part: the question for what waits for nothing, else a
        thought that says what the part waits for.
        """  # noqa: D205 - one sentence
        if not part.after:
            return look_up is self.way.look_ups[0]
        return all(self.gold.parts[n].held_by([look_up.asked]) for n in part.after)

    def _one_to_one(self) -> list[list[LookUp]]:
        """For each part of a compound question the look-ups that ask for it."""
        parts, look_ups, known = self.gold.parts, self.way.look_ups, shared_words(self.gold.parts)
        if not self.way.asks_anew or not self.way.each_reads:
            return [list(look_ups) for _ in parts]
        alike = np.array([[likeness(p.question, each.asked, known) for each in look_ups] for p in parts])
        alike = alike.reshape(len(parts), len(look_ups))
        asking: list[list[LookUp]] = [[] for _ in parts]
        for row, column in zip(*linear_sum_assignment(alike, maximize=True), strict=True):
            if alike[row, column] >= _ASKS:
                asking[row].append(look_ups[column])
        # Put in words of its own, it is told by what it found.
        strange = [each for each, most in zip(look_ups, alike.max(axis=0), strict=True) if most < _ASKS]
        return [
            found or [each for each in strange if any(part.support.is_in(passage) for passage in each.found)]
            for part, found in zip(parts, asking, strict=True)
        ]
