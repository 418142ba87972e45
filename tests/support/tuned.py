"""Saved programs with tuned stages, as compiling leaves them."""

import dspy
from aspectrag.programs.registry import METHODS
from fakes import ListRetriever

INSTRUCTIONS = "Tuned: say it well."


def mean(value, **more):
    return {"mean": value, "low": value - 0.1, "high": value + 0.1, "n": 40, **more}


RECORD = {
    "recipe": "router", "optimizer": "mipro", "metric": "label", "uncompiled": mean(0.5), "compiled": mean(0.7),
    "difference": mean(0.2, p=0.0004), "data": "ab" * 32, "demos": 1, "instructions_changed": True,
}  # fmt: skip


def tune(program, *stages):
    """Give stages a demo and other instructions."""
    for stage in stages:
        predictor = getattr(program, stage)
        predictor.signature = predictor.signature.with_instructions(f"{INSTRUCTIONS} ({stage})")
        predictor.demos = [dspy.Example(**dict.fromkeys(predictor.signature.fields, f"demo of {stage}"))]
    return program


def save_tuned(path, *stages, method="han", config=None, lm="scripted/main"):
    """A program of which these stages were tuned for a language model, saved."""
    program = tune(METHODS[method](config, ListRetriever()), *stages)
    program.save(path, meta={"lm": lm, "stages": dict.fromkeys(stages, RECORD)})
    return path
