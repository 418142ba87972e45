"""The error that ends a call carries the trace of it."""

import asyncio
import gc
import json
import weakref

import dspy
import pytest
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.han_rag import HanRag
from aspectrag.programs.trace import Trace, record
from fakes import ListRetriever, by_fields

QUESTION = "Is coal cheap?"


def failing(error=None, field="answer"):
    """Answers, until it is to write the answer."""
    reply = by_fields()
    return scripted_lm(lambda call: (error or RuntimeError("it fell over")) if field in call.fields else reply(call))


def program():
    return HanRag(retriever=ListRetriever())


def told(error):
    (step,) = error.trace.steps
    assert (step.kind, step.name) == ("program", "HanRag")
    assert all(each.started and each.seconds >= 0 for each in step.walk())
    assert sum(each.kind == "lm" for each in step.walk()) > 1
    assert "fell over" in step.error
    return step


def test_called():
    with dspy.context(lm=failing()), pytest.raises(dspy.LMError) as caught:
        program()(question=QUESTION)
    told(caught.value)
    assert Trace.from_dict(json.loads(json.dumps(caught.value.trace.to_dict()))).steps[0].error


def test_awaited():
    with dspy.context(lm=failing()), pytest.raises(dspy.LMError) as caught:
        asyncio.run(program().acall(question=QUESTION))
    told(caught.value)


def test_secrets_are_masked(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "sk-abc123def456ghi789")
    lm = failing(RuntimeError("it fell over with sk-abc123def456ghi789"))
    with dspy.context(lm=lm), pytest.raises(dspy.LMError) as caught:
        program()(question=QUESTION)
    told(caught.value)
    assert "sk-abc123" not in json.dumps(caught.value.trace.to_dict())
    assert "sk-abc123" not in caught.value.trace._repr_html_()


def test_inside_a_wider_recording_it_is_of_this_call():
    with dspy.context(lm=failing()), record() as trace:
        with pytest.raises(dspy.LMError) as first:
            program()(question=QUESTION)
        with pytest.raises(dspy.LMError) as second:
            program()(question=QUESTION)
    assert [told(each.value) for each in (first, second)] == trace.steps


def test_side_by_side_each_has_its_own():
    questions = [f"Is coal {n} cheap?" for n in range(4)]
    parallel = dspy.Parallel(num_threads=4, max_errors=9, return_failed_examples=True, disable_progress_bar=True)
    asked = program()
    with dspy.context(lm=failing()):
        _, failed, errors = parallel([(asked, dspy.Example(question=q).with_inputs("question")) for q in questions])
    assert len(failed) == len(errors) == 4
    assert {told(error).inputs["question"] for error in errors} == set(questions)


def test_evaluating_goes_on():
    devset = [dspy.Example(question=QUESTION, answer="x").with_inputs("question")] * 3
    evaluate = dspy.Evaluate(devset=devset, metric=lambda *_: 1.0, num_threads=2, max_errors=9, failure_score=0.0)
    with dspy.context(lm=failing()):
        assert evaluate(program()).score == 0.0


def test_an_interruption_too():
    class Interrupting(ListRetriever):
        def search(self, *_, **__):
            raise KeyboardInterrupt

    with dspy.context(lm=scripted_lm(by_fields())), pytest.raises(KeyboardInterrupt) as caught:
        Rag(retriever=Interrupting())(question=QUESTION)
    assert caught.value.trace.steps[0].name == "Rag"


def test_an_error_that_cannot_be_written_on_stays_what_it_is():
    class SealedError(Exception):
        def __setattr__(self, name, value):
            if name == "trace":
                raise AttributeError(name)
            super().__setattr__(name, value)

    class Broken(ListRetriever):
        def search(self, *_, **__):
            raise SealedError

    with dspy.context(lm=scripted_lm(by_fields())), pytest.raises(SealedError):
        Rag(retriever=Broken())(question=QUESTION)


def test_nothing_outlives_the_error():
    with dspy.context(lm=failing(), disable_history=True), pytest.raises(dspy.LMError) as caught:
        program()(question=QUESTION)
    assert not [each for each in gc.get_referents(*told(caught.value).walk()) if isinstance(each, BaseException)]
    kept = weakref.ref(caught.value)
    del caught
    gc.collect()
    assert kept() is None
