"""What stands in for the models of the notebooks: each under the name that its cell gives it.

The replies know the demo's questions, and what the notebooks are to show: two answers of four are wrong, examples teach
the router, and a small model answers worse than a large one.
"""

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from aspectrag.data.benchmarks import load
from aspectrag.lms import scripted_lm
from faceted import WordEncoder
from fakes import by_fields

if TYPE_CHECKING:
    from aspectrag.lms import ScriptedCall

_DEMO = {question.question: question for split in ("tune", "dev") for question in load("demo", split).questions}
_LINES = (files("aspectrag.data") / "demo" / "examples" / "router.jsonl").read_text(encoding="utf-8").splitlines()
_ROUTES = {record["question"]: record["route"] for record in map(json.loads, _LINES)}
_ANSWERS = {
    "Which English engineer designed the Széchenyi Chain Bridge?": "William Tierney Clark",
    "In which city was Linus Torvalds born?": "Helsinki",
    "In which year did Linus Torvalds write Git?": "2005",
}


def _route(call: "ScriptedCall") -> str:
    question = call.inputs["question"]
    if question in _DEMO:
        return _DEMO[question].route
    taught = call.prompt.count("[[ ## route ## ]]\n") - 2 >= 2  # those of the format and of the question are no demos
    return _ROUTES.get(question, "compound") if taught else "compound"


def _answer(call: "ScriptedCall") -> str:
    question = call.inputs["question"]
    return _ANSWERS.get(question, f"About {question} [1].")


def _parts(call: "ScriptedCall") -> list[str]:
    return [part["question"] for part in _DEMO[call.inputs["question"]].sub_questions]


def _type(call: "ScriptedCall") -> str:
    return _DEMO[call.inputs["question"]].type


_SHOWN: dict[str, Any] = {"keywords": ["honey bee", "bumblebee"], "seed_question": "Which zoo is the oldest?"}

# Under names of their own, so that a notebook that is run again goes on where it was.
lm = large = scripted_lm(
    by_fields(route=_route, answer=_answer, sub_questions=_parts, type=_type, **_SHOWN), name="large"
)
small = scripted_lm(by_fields(), name="small")
encoder = WordEncoder()
