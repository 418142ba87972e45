"""Tuned stages that come with the package: used where nobody declines them, and said."""

from collections.abc import Mapping

import dspy

from ..programs.compiled import adopt_shipped
from ..programs.program import Program
from .corpora import say


def use_shipped(
    programs: Mapping[str, Program], lm: dspy.BaseLM, roles: Mapping[str, dspy.BaseLM], *, quiet: bool = False
) -> None:
    """Give programs, by the names of their methods, what ships for their language models; one line tells which.

    Raises:
        AspectragError: What ships cannot be read.
    """
    told = []
    for method, program in programs.items():
        found = adopt_shipped(program, method, lm, roles)
        parts = [
            f"{'stages' if len(stages) > 1 else 'stage'} {', '.join(stages)} compiled for {model}"
            for model, stages in found.items()
        ]
        if parts:
            told.append((f"{method}: " if len(programs) > 1 else "") + ", ".join(parts))
    if told and not quiet:
        say("; ".join([*told, "--uncompiled turns this off"]))
