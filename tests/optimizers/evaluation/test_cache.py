"""What threads ask at the same time is asked once; what went wrong reaches all of them, and is not kept."""

import asyncio
import contextvars
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest
from aspectrag.lms import scripted_lm
from aspectrag.lms.patient import PatientLM
from aspectrag.optimizers.evaluation.cache import run_cache, scoped
from dspy.utils.usage_tracker import UsageTracker

PATIENCE = 30


class Counting(UsageTracker):
    def __deepcopy__(self, memo):
        return self


def at_once(count, work):
    """What several threads get for the same, all begun before one is done; errors among it."""
    ready = threading.Barrier(count)

    def begun(number):
        ready.wait(PATIENCE)
        try:
            return work(number)
        except BaseException as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(contextvars.copy_context().run, begun, number) for number in range(count)]
        return [future.result(PATIENCE) for future in futures]


def calls(lm):
    return len(lm.engine.calls)


def test_what_is_asked_at_the_same_time_is_asked_once(tmp_path):
    lm, spent = scripted_lm({"answer": "a"}, latency=0.2), Counting()
    ask = dspy.Predict("question -> answer")
    with run_cache(tmp_path / "answers"), dspy.context(lm=lm, usage_tracker=spent):
        said = at_once(8, lambda _: ask(question="Why?").answer)
        assert said == ["a"] * 8
        assert calls(lm) == 1
        assert [len(entries) for entries in spent.usage_data.values()] == [1]
        ask(question="Why?")
        assert calls(lm) == 1


def test_other_questions_and_other_scopes_wait_for_nobody(tmp_path):
    lm = scripted_lm({"answer": "a"}, latency=0.3)

    def work(number):
        with scoped(f"of {number % 2}"):
            return dspy.Predict("question -> answer")(question=f"Why {number // 2}?").answer

    with run_cache(tmp_path / "answers"), dspy.context(lm=lm):
        started = time.perf_counter()
        assert at_once(8, work) == ["a"] * 8
    assert calls(lm) == 8
    assert time.perf_counter() - started < 8 * 0.3


def test_a_failure_reaches_all_who_wait_and_is_not_kept(tmp_path):
    said = {"now": dspy.LMInvalidRequestError("too long")}
    lm = scripted_lm(lambda call: said["now"], latency=0.2)
    with run_cache(tmp_path / "answers"):
        failed = at_once(6, lambda _: lm("Why?"))
        assert {str(error) for error in failed} == {"too long"}
        assert {type(error) for error in failed} == {dspy.LMInvalidRequestError}
        assert calls(lm) == 1
        said["now"] = "so"
        assert lm("Why?") == ["so"]
        assert calls(lm) == 2


def test_after_a_failure_that_passes_one_of_those_who_wait_asks_again(tmp_path):
    made = scripted_lm(lambda call: dspy.LMRateLimitError("busy") if call.index == 0 else "so", latency=0.2)
    lm = PatientLM("scripted/patient", engine=made.engine, temperature=0.0)
    lm._wait = lambda error, attempt: 0.0
    with run_cache(tmp_path / "answers"):
        assert at_once(4, lambda _: lm("Why?")) == [["so"]] * 4
    assert calls(made) == 2


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_who_is_interrupted_leaves_the_question_to_another(stop, tmp_path):
    def reply(call):
        if call.index == 0:
            raise stop
        return "so"

    lm = scripted_lm(reply, latency=0.2)
    with run_cache(tmp_path / "answers"):
        said = at_once(4, lambda _: lm("Why?"))
    assert sorted(map(str, said)) == ["", "['so']", "['so']", "['so']"]
    assert [type(each) for each in said].count(stop) == 1
    assert calls(lm) == 2


def test_a_model_around_another_one_does_not_wait_for_itself(tmp_path):
    inner = scripted_lm(lambda call: "so", latency=0.1, name="same")

    class Around(dspy.BaseLM):
        def forward(self, prompt=None, messages=None, **kwargs):
            outer = {"prompt": prompt, "asked": "by the outer"}
            assert dspy.cache.get(outer) is None
            made = inner.forward(prompt=prompt, messages=messages)
            inner(prompt)
            return made

    lm = Around("scripted/same")
    with run_cache(tmp_path / "answers"):
        assert at_once(3, lambda _: lm("Why?")) == [["so"]] * 3


def test_awaited_calls_come_back_however_many_there_are(tmp_path):
    lm = scripted_lm(lambda call: "so", latency=0.05)

    async def all_of_them():
        return await asyncio.gather(*(lm.acall("Why?") for _ in range(64)))

    with run_cache(tmp_path / "answers"):
        assert asyncio.run(all_of_them()) == [["so"]] * 64


def test_nothing_is_left_of_calls_that_ended(tmp_path):
    lm = scripted_lm(lambda call: "so" if "Why" in call.prompt else dspy.LMInvalidRequestError("no"))
    with run_cache(tmp_path / "answers") as cache:
        at_once(4, lambda number: lm("Why?" if number % 2 else "How?"))
        assert not cache.underway._calls
        assert not cache.underway._asking
