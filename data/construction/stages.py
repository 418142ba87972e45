"""HANRAG's five control stages, and what each learns: the fields of a training record are those of its signature.

Source: HANRAG (arXiv 2509.09713), section 4.2 and appendix B, on the training data of its revelator.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dspy

from ...errors import AspectragError


@dataclass(frozen=True)
class Stage:
    """A control stage.

    Attributes:
        name: What users call it.
        inputs: Fields that it is given.
        output: The field that it must return.
        about: What a record teaches.
    """

    name: str
    inputs: tuple[str, ...]
    output: str
    about: str

    def example(self, record: Mapping[str, Any]) -> dspy.Example:
        """The record as an example for its signature, with nothing else in it: fit as a demo.

        Raises:
            AspectragError: It lacks a field.

        Example:
            >>> record = {"id": "1", "question": "Why is the sky blue?", "route": "single-step", "source": "q1"}
            >>> STAGES["router"].example(record)
            Example({'question': 'Why is the sky blue?', 'route': 'single-step'}) (input_keys={'question'})
        """
        fields = (*self.inputs, self.output)
        if missing := [field for field in fields if field not in record]:
            raise AspectragError(f"no record of the {self.name}: it has no {', '.join(missing)}")
        return dspy.Example({field: record[field] for field in fields}).with_inputs(*self.inputs)


STAGES = {
    stage.name: stage
    for stage in (
        Stage("router", ("question",), "route", "which of the four ways a question is looked up"),
        Stage("decomposer", ("question",), "sub_questions", "what a compound question asks"),
        Stage("refiner", ("question", "found"), "seed_question", "what to look up next"),
        Stage("relevance", ("question", "title", "passage"), "relevant", "whether a passage helps"),
        Stage("ending", ("question", "found"), "verdict", "whether enough has been found"),
    )
}
