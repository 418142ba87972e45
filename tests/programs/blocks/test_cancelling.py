"""An interrupted question makes no further call."""

import threading
import time

import dspy
import pytest
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.blocks.concurrent import run_all
from aspectrag.programs.blocks.stage import call_stage
from aspectrag.signatures import AnswerDirectly


def hundred_calls(item, started):
    for n in range(100):
        call_stage("answer", dspy.Predict(AnswerDirectly), lambda out: out.answer, 1, question=f"{item} {n}")
        started.set()


def settled(lm):
    """How many calls were made, once no more come."""
    time.sleep(0.1)
    calls = len(lm.engine.calls)
    time.sleep(0.1)
    assert len(lm.engine.calls) == calls
    return calls


def test_branches_stop_calling_once_their_caller_is_interrupted(monkeypatch):
    # The interrupt comes while the caller waits, as Ctrl-C does; each branch would make a hundred calls.
    started, lm = threading.Event(), scripted_lm({"answer": "So."}, latency=0.01)

    def interrupt(futures):
        started.wait(5)
        raise KeyboardInterrupt

    monkeypatch.setattr("aspectrag.programs.blocks.concurrent.wait", interrupt)
    with dspy.context(lm=lm), pytest.raises(KeyboardInterrupt):
        run_all(lambda item: hundred_calls(item, started), ["a", "b"], "part")
    assert settled(lm) < 100


def test_inner_branches_heed_the_interrupt_of_the_outer_ones(monkeypatch):
    import aspectrag.programs.blocks.concurrent as concurrent

    lm, started, whole = scripted_lm({"answer": "So."}, latency=0.01), threading.Event(), concurrent.wait
    caller = threading.current_thread()

    def interrupt(futures):
        if threading.current_thread() is not caller:
            return whole(futures)
        started.wait(5)
        raise KeyboardInterrupt

    monkeypatch.setattr(concurrent, "wait", interrupt)

    def part(item):
        return run_all(lambda inner: hundred_calls(inner, started), [item + "1", item + "2"], "passage")

    with dspy.context(lm=lm), pytest.raises(KeyboardInterrupt):
        run_all(part, ["a", "b"], "part")
    assert settled(lm) < 200
