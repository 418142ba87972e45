"""A saved program says the same to its models wherever it is loaded, to the byte."""

import json
import os
import subprocess
import sys
from pathlib import Path

import dspy
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.han_rag import HanRag
from aspectrag.programs.registry import METHODS
from aspectrag.signatures.merging import SubAnswer
from fakes import ListRetriever, by_fields
from tuned import tune

SUPPORT = Path(__file__).parents[1] / "support"
QUESTION = "Is coal “cheap”, or 团 dirty?"
SCRIPT = """
import json, sys
import dspy
from aspectrag.programs.registry import METHODS
from fakes import ListRetriever
from test_prompts import said

folder, *names = sys.argv[1:]
found = {name: said(METHODS[name].load(f"{folder}/{name}", ListRetriever())) for name in names}
sys.stdout.write(json.dumps(found))
"""
METHODS_ASKED = [name for name in METHODS if name != "rich"]  # whose ranker needs weights


def said(program):
    """The messages of all calls that a question leads to, on every route; those side by side in no order."""
    found = []
    for changes in ({}, {"route": "complex", "type": "DEBATE", "look_ups": "multiple"}, {"route": "compound"}):
        lm = scripted_lm(by_fields(**changes))
        with dspy.context(lm=lm):
            program(question=QUESTION)
        found += sorted(repr((call.request.system, call.request.messages)) for call in lm.engine.calls)
    return found


def said_elsewhere(folder, *names):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SUPPORT), str(Path(__file__).parent)])}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), *names], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


def tuned(name):
    """Every stage has other instructions and two demos, one of them as optimizers make them: with typed values."""
    program = METHODS[name](None, ListRetriever())
    tune(program, *(stage for stage, _ in program.named_predictors()))
    with dspy.context(lm=scripted_lm(by_fields()), trace=[]):
        program(question="Who 团 “asks”?\n\nReally? \u2028 \\u00e9 \x7f")
        for predictor, inputs, outputs in dspy.settings.trace:
            predictor.demos = [*predictor.demos[:1], dspy.Example(augmented=True, **inputs, **outputs)]
    return program


def test_prompts_are_the_same_in_another_process(tmp_path):
    here = {}
    for name in METHODS_ASKED:
        program = tuned(name)
        program.save(tmp_path / name)
        here[name] = said(program)
        assert any("Tuned: say it well." in prompt and "“asks”" in prompt for prompt in here[name]), name
    assert said_elsewhere(tmp_path, *METHODS_ASKED) == here


def test_another_patch_version_of_dspy_changes_no_prompt(tmp_path):
    program = tune(HanRag(None, ListRetriever()), "route")
    program.judge_ending.demos = [
        dspy.Example(question="q", found=[SubAnswer(question="Who?", answer="Ö 团")], verdict="end")
    ]
    program.save(tmp_path / "han")
    file = tmp_path / "han" / "manifest.json"
    assert json.loads(file.read_text())["dspy"] == dspy.__version__
    file.write_text(json.dumps({**json.loads(file.read_text()), "dspy": "3.4.99"}))
    here = said(program)
    assert any("Ö 团" in prompt for prompt in here)
    assert said_elsewhere(tmp_path, "han") == {"han": here}


def test_half_a_letter_in_a_demo_does_not_cost_the_program(tmp_path):
    program = HanRag(None, ListRetriever())
    program.route.demos = [dspy.Example(question="half \ud83d", route="complex")]
    program.save(tmp_path / "p")
    assert HanRag.load(tmp_path / "p", ListRetriever()).route.demos == [{"question": "half ?", "route": "complex"}]
