"""A small task that can be learnt: a model that routes right once a demo or an instruction shows it how."""

from collections.abc import Callable
from typing import Any

import dspy
from aspectrag.lms import scripted_lm
from aspectrag.lms.scripted import ScriptedCall
from aspectrag.optimizers.compiling.examples import Examples
from aspectrag.optimizers.metrics.stages import label_of
from aspectrag.programs.han_rag import HanRag
from aspectrag.programs.program import Program
from fakes import ListRetriever

ROUTES = ("straightforward", "single-step", "compound", "complex")
LABEL = label_of("route")
HINT = "Look at the last word of the question."


def routed(count: int, start: int = 0) -> list[dspy.Example]:
    """Questions whose last word is their route."""
    return [
        dspy.Example(question=f"Question {n} goes {ROUTES[n % 4]}", route=ROUTES[n % 4]).with_inputs("question")
        for n in range(start, start + count)
    ]


def examples(train: int = 12, val: int = 8, test: int = 8) -> Examples:
    """Sets that share nothing."""
    return Examples(routed(train), routed(val, 100), routed(test, 200))


def program() -> Program:
    """What is tuned."""
    return HanRag(None, ListRetriever())


def learner(call: ScriptedCall) -> dict[str, Any]:
    """Routes right with two demos or the hint; else only what is compound. Writes the hint where it is to propose."""
    if "route" in call.fields:
        shown = call.prompt.count("[[ ## route ## ]]\n") - 2  # those of the format and of the question
        word = call.inputs.get("question", "").split()[-1]
        taught = shown >= 2 or HINT in call.prompt
        return {"route": word if taught and word in ROUTES else "compound"}
    return {name: {"route": HINT} if name == "module_advice" else HINT for name in call.fields}  # SIMBA's, by stage


def model(reply: Callable[[ScriptedCall], Any] = learner, name: str = "scripted/learner") -> dspy.LM:
    """The scripted model."""
    lm: Any = scripted_lm(reply)
    lm.model = name
    return lm


def calls_of(lm: dspy.LM) -> int:
    """How often it was really asked."""
    engine: Any = lm.engine
    return len(engine.calls)
