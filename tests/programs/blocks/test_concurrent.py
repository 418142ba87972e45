import threading
import time

import dspy
import pytest
from aspectrag.programs.blocks.concurrent import run_all
from aspectrag.programs.blocks.fallbacks import fall_back
from aspectrag.programs.trace import record


def test_items_really_run_at_the_same_time():
    barrier = threading.Barrier(4, timeout=10)
    assert run_all(lambda item: (barrier.wait(), item)[1], [1, 2, 3, 4], "part") == [1, 2, 3, 4]


def test_order_never_depends_on_who_finishes_first():
    def work(item):
        time.sleep(0.03 * (3 - item))
        fall_back("stage", str(item))
        dspy.settings.trace.append(item)
        return item

    with dspy.context(trace=[], fallbacks=[]), record() as trace:
        assert run_all(work, [0, 1, 2], "part") == [0, 1, 2]
        assert dspy.settings.trace == [0, 1, 2]
        assert [f.reason for f in dspy.settings.fallbacks] == ["0", "1", "2"]
    assert [step.name for step in trace.steps] == ["part 1", "part 2", "part 3"]
    assert [step.children[0].outputs for step in trace.steps] == ["0", "1", "2"]


def test_threads_see_the_callers_context_and_do_not_stream():
    with dspy.context(lm="mine", send_stream="stream"):
        assert run_all(lambda _: (dspy.settings.lm, dspy.settings.send_stream), [1, 2], "part") == [("mine", None)] * 2


def test_the_first_failure_in_item_order_is_raised_after_all_ended():
    ended = []

    def work(item):
        time.sleep(0.02 * (3 - item))
        ended.append(item)
        if item:
            raise ValueError(str(item))

    with record() as trace, pytest.raises(ValueError, match="1"):
        run_all(work, [0, 1, 2], "part")
    assert sorted(ended) == [0, 1, 2]
    assert [step.error for step in trace.steps] == [None, "ValueError: 1", "ValueError: 2"]


def test_nothing_to_do_and_one_thing_to_do():
    assert run_all(str, [], "part") == []
    assert run_all(lambda _: threading.current_thread(), [1], "part") == [threading.current_thread()]
