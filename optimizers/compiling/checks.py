"""What is looked at before anything is spent: that the examples suffice, fit what they are for, and share nothing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import dspy
from pydantic import TypeAdapter, ValidationError

from ...data.construction.splitting import shared
from ...errors import AspectragError
from ..metrics.metric import Metric, Score

_SHOWN = 60


def finite(metric: Metric) -> Metric:
    """The metric, which fails where a score is no number: one would make the mean, and every choice by it, none."""

    def score(example: dspy.Example, prediction: dspy.Prediction) -> Score:
        given = metric.score(example, prediction)
        for value in given.values() if isinstance(given, Mapping) else [given]:
            if value is not None and not math.isfinite(value):
                raise ValueError(f"its score is {value}")
        return given

    return replace(metric, score=score)


def check_sets(sets: Mapping[str, Sequence[dspy.Example]], inputs: Sequence[str], least: Mapping[str, int]) -> None:
    """Check the sets of examples of an optimization.

    Args:
        sets: ``train``, ``val`` and ``test``.
        inputs: What the student is given: fields that each example must have, marked as its inputs.
        least: Fewest examples of each set.

    Raises:
        AspectragError: A set is too small, an example lacks an input or marks others, or two sets share a question.
    """
    for name, examples in sets.items():
        if len(examples) < least.get(name, 0):
            raise AspectragError(
                f"{len(examples)} {name} examples, at least {least[name]} are needed: give more, or an optimizer that "
                "needs fewer"
            )
        for number, example in enumerate(examples):
            marked = sorted(example._input_keys or ())
            if marked != sorted(inputs):
                raise AspectragError(
                    f"{name} example {number} has the inputs {', '.join(marked) or '(none)'}, wanted are "
                    f"{', '.join(inputs)}: call .with_inputs({', '.join(map(repr, inputs))})"
                )
            if missing := [field for field in inputs if field not in example]:
                raise AspectragError(f"{name} example {number} has no {missing[0]}")
    names = list(sets)
    for place, ours in enumerate(names):
        for theirs in names[place + 1 :]:
            _check_apart(ours, sets[ours], theirs, sets[theirs])


def _check_apart(ours: str, first: Sequence[dspy.Example], theirs: str, second: Sequence[dspy.Example]) -> None:
    # Judges of passages are asked of one question many times: what must differ is all that they are given.
    given = [[repr(example.inputs().toDict()) for example in examples] for examples in (first, second)]
    known, others = ([{"id": each, "question": each} for each in part] for part in given)
    if common := sorted({each for each, _, _ in shared(known, others)}):
        raise AspectragError(
            f"the {ours} and {theirs} examples share {len(common)} of their inputs, such as {common[0][:_SHOWN]}: "
            "scores would be of what was learnt by heart"
        )


def check_labels(train: Sequence[dspy.Example], signatures: Sequence[type[dspy.Signature]]) -> None:
    """Check that examples can be demos as they are: of those that hold no output, DSPy shows a model nothing.

    Args:
        train: What demos are taken from.
        signatures: Of the stages that get them.

    Raises:
        AspectragError: Some hold no output of a stage; says how many.
    """
    for signature in signatures:
        outputs = list(signature.output_fields)
        bare = sum(all(example.get(name) is None for name in outputs) for example in train)
        if bare:
            raise AspectragError(
                f"{bare} of {len(train)} train examples have no {' or '.join(outputs)}, so they are no demos: add it, "
                "leave them out, or choose demos of runs alone (bootstrap with max_labeled_demos=0)"
            )


def typed(example: dspy.Example, signature: type[dspy.Signature]) -> dspy.Example:
    """The example with the values of its fields in the types of the signature: demos then look as calls do.

    Raises:
        AspectragError: A value does not fit.
    """
    values: dict[str, Any] = {}
    for name, field in signature.fields.items():
        if name in example:
            try:
                kind: Any = field.annotation
                values[name] = TypeAdapter(kind).validate_python(example[name])
            except ValidationError as error:
                reason = error.errors()[0]["msg"]
                raise AspectragError(
                    f"an example's {name} does not fit the stage: {reason} ({example[name]!r:.{_SHOWN}})"
                ) from None
    return example.copy(**values)
