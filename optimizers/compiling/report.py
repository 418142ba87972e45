"""What an optimization did: scores on questions it never saw, what changed, and what it cost."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import dspy
from pydantic import TypeAdapter, ValidationError

from ...errors import AspectragError
from ...programs.showing.tables import Strong, Table, tables_html
from ..evaluation.statistics import Difference, Mean
from ..metrics.classification import Classification


@dataclass(frozen=True)
class StageChange:
    """What became of one stage.

    Attributes:
        demos: Demos it has now.
        demos_before: Demos it had.
        demos_changed: Whether they are others now.
        instructions: Its instructions now.
        instructions_before: What they were.
    """

    demos: int
    demos_before: int
    demos_changed: bool
    instructions: str
    instructions_before: str

    @property
    def changed(self) -> bool:
        """Whether it is another stage now."""
        return self.instructions_changed or self.demos_changed

    @property
    def instructions_changed(self) -> bool:
        """Whether its instructions are others now."""
        return self.instructions != self.instructions_before

    def to_record(self) -> dict[str, Any]:
        """What a saved program tells of it."""
        return {"demos": self.demos, "instructions_changed": self.instructions_changed}

    def diff(self) -> str:
        """Its instructions as a unified diff; empty where they are the same."""
        before, now = (text.splitlines() for text in (self.instructions_before, self.instructions))
        return "\n".join(difflib.unified_diff(before, now, "uncompiled", "compiled", lineterm=""))


def changes(before: dspy.Module, after: dspy.Module, stages: Sequence[str]) -> dict[str, StageChange]:
    """What became of the stages."""
    found = {}
    for stage in stages:
        old: Any = getattr(before, stage)
        new: Any = getattr(after, stage)
        found[stage] = StageChange(
            demos=len(new.demos),
            demos_before=len(old.demos),
            demos_changed=[dict(demo) for demo in new.demos] != [dict(demo) for demo in old.demos],
            instructions=new.signature.instructions,
            instructions_before=old.signature.instructions,
        )
    return found


@dataclass(frozen=True)
class Measured:
    """A program over the test questions.

    Attributes:
        score: Mean of the metric; a question that failed scores 0.
        scores: Of each question.
        failures: Why questions failed, by their places.
        unreadable: Outputs that could not be read.
        classification: For a classifier: accuracy, F1 by class, confusion.
        macro_f1: Its macro-F1 with an interval.
    """

    score: Mean
    scores: tuple[float, ...]
    failures: Mapping[int, str]
    unreadable: int
    classification: Classification | None = None
    macro_f1: Mean | None = None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {
            "score": self.score.to_dict(),
            "macro_f1": self.macro_f1.to_dict() if self.macro_f1 else None,
            "classification": self.classification.to_dict() if self.classification else None,
            "unreadable": self.unreadable,
            "failures": {str(place): reason for place, reason in self.failures.items()},
            "scores": list(self.scores),
        }


@dataclass(frozen=True)
class Report:
    """What an optimization did.

    Attributes:
        target: The method, or method and stage, that was tuned.
        recipe: The recipe's name, if it was one.
        optimizer: Its name, and its arguments.
        metric: Name of the metric.
        models: Model strings of ``lm``, ``teacher`` and ``prompt``.
        examples: How many, in each set.
        data: SHA-256 of all examples.
        uncompiled: The program as it was.
        compiled: The program as the optimizer left it.
        difference: Of the two, question by question.
        kept: Which of the two was saved.
        why: Why, in words.
        stages: What became of each.
        spent: Runs, calls, tokens and seconds.
        errors: What failed while it was tuned, and how often.
        notes: What else is to be known, such as that no run was worth a demo.
    """

    target: str
    recipe: str | None
    optimizer: str
    arguments: Mapping[str, Any]
    metric: str
    models: Mapping[str, str]
    examples: Mapping[str, int]
    data: str
    uncompiled: Measured
    compiled: Measured
    difference: Difference
    kept: Literal["compiled", "uncompiled"]
    why: str
    stages: Mapping[str, StageChange]
    spent: Mapping[str, float]
    errors: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        record = {**vars(self), "difference": self.difference.to_dict()}
        record |= {name: getattr(self, name).to_dict() for name in ("uncompiled", "compiled")}
        record["stages"] = {stage: {**asdict(change), "diff": change.diff()} for stage, change in self.stages.items()}
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Report":
        """The inverse of :meth:`to_dict`.

        Raises:
            AspectragError: It is none.
        """
        try:
            return TypeAdapter(cls).validate_python(record)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"]))
            raise AspectragError(f"the report of a compiled program is damaged ({place}): compile it again") from None

    def _repr_html_(self) -> str:
        """Before, after, what changed and what is kept, in notebooks."""
        both, mean = (self.uncompiled, self.compiled), "accuracy" if self.uncompiled.classification else "mean"
        gain = f"{self.difference.signed()}, p {self.difference.p_text()}"
        rows: list[tuple[str, ...]] = [(f"{mean} ({self.examples['test']})", *(str(each.score) for each in both), gain)]
        if all(each.macro_f1 for each in both):
            rows.append(("macro-F1", *(str(each.macro_f1) for each in both), ""))
        rows.append(("outputs that could not be read", *(str(each.unreadable) for each in both), ""))
        rows.append(("failed", *(str(len(each.failures)) for each in both), ""))
        stages = tuple(
            (stage, f"{each.demos_before} → {each.demos}", Strong("new") if each.instructions_changed else "as before")
            for stage, each in self.stages.items()
        )
        scores = Table((self.metric, "uncompiled", "compiled", "difference"), tuple(rows))
        notes = [f"The {self.kept} program is kept: {self.why}", *self.notes]
        return tables_html(
            f"{self.target}, {self.optimizer}", [scores, Table(("stage", "demos", "instructions"), stages)], notes
        )

    def record(self) -> dict[str, Any]:
        """What a saved program tells of its tuning."""
        return {
            "recipe": self.recipe, "optimizer": self.optimizer, "metric": self.metric,
            "uncompiled": self.uncompiled.score.to_dict(), "compiled": self.compiled.score.to_dict(),
            "difference": self.difference.to_dict(), "data": self.data,
        }  # fmt: skip
