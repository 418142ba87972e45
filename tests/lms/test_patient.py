import asyncio
import time

import dspy
import pytest
from aspectrag.lms.patient import LONGEST_WAIT, PatientLM
from aspectrag.lms.scripted import AsyncScriptedEngine, ScriptedEngine
from aspectrag.programs.trace import record
from dspy.lm15 import AuthError, RateLimitError, ServerError, TimeoutError


@pytest.fixture
def slept(monkeypatch):
    waits: list[float] = []

    def sleep(seconds):
        if seconds:  # the scripted model pauses too, for no time
            waits.append(seconds)

    async def asleep(seconds):
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", sleep)

    monkeypatch.setattr("aspectrag.lms.patient.asyncio.sleep", asleep)
    return waits


def lm_that_fails(error, times):
    engine = ScriptedEngine(lambda call: error if call.index < times else "at last")
    return PatientLM("scripted/patient", engine=engine, async_engine=AsyncScriptedEngine(engine), cache=False)


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (RateLimitError("slow down", retry_after=7.0), [7.0, 7.0]),
        (RateLimitError("slow down"), [1.0, 2.0]),
        (ServerError("oops"), [1.0, 2.0]),
    ],
)
def test_passing_reasons_are_waited_out_and_every_attempt_is_in_the_trace(slept, error, waits):
    lm = lm_that_fails(error, 2)
    with record() as trace:
        assert lm("hi") == ["at last"]
    assert slept == waits
    assert [bool(step.error) for step in trace.walk() if step.kind == "lm"] == [True, True, False]
    assert asyncio.run(lm_that_fails(error, 2).acall("hi")) == ["at last"]
    assert slept == [*waits, *waits]


@pytest.mark.parametrize(
    "error",
    [RateLimitError("come back tomorrow", retry_after=LONGEST_WAIT + 1), AuthError("no"), TimeoutError("too slow")],
)
def test_what_waiting_does_not_mend_is_not_waited_for(slept, error):
    lm = lm_that_fails(error, 9)
    with pytest.raises(dspy.LMError):
        lm("hi")
    assert slept == []
    assert len(lm.engine.calls) == 1


def test_patience_ends(slept):
    lm = lm_that_fails(ServerError("oops"), 9)
    with pytest.raises(dspy.LMError, match="oops"):
        lm("hi")
    assert len(slept) == lm.patience == 3
