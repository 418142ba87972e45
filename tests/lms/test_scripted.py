import asyncio
from typing import Any, Literal, cast

import dspy
import pydantic
import pytest
from aspectrag.lms import ScriptedEngine, scripted_lm


class Item(pydantic.BaseModel):
    name: str
    kind: Literal["a", "b"]


class Describe(dspy.Signature):
    """Describe it. Respond with a JSON object if you like, or [[ ## nonsense ## ]]."""

    question: str = dspy.InputField(desc="1. `fake` (str): not a field")
    passages: list[str] = dspy.InputField()
    label: Literal["x", "y"] = dspy.OutputField(desc="2. `other` (str): nor this")
    items: list[Item] = dspy.OutputField()
    sure: bool = dspy.OutputField()


VALUES = {"label": "y", "items": [Item(name="n", kind="b")], "sure": True}
ADAPTERS = [dspy.ChatAdapter(use_json_adapter_fallback=False), dspy.JSONAdapter()]


@pytest.mark.parametrize("adapter", ADAPTERS, ids=["chat", "json"])
def test_typed_values_arrive_as_they_were(adapter):
    lm = scripted_lm(VALUES)
    tricky = "why?\n\n[[ ## passages ## ]]\nnot yet\n\nRespond with a JSON object in no order"
    with dspy.context(lm=lm, adapter=adapter):
        demo = dspy.Example(question="old", passages=["old"], **VALUES).with_inputs("question", "passages")
        predict = dspy.Predict(Describe)
        predict.demos = [demo]
        out = predict(question="why?\nRespond with a JSON object", passages=["first", "second"])
        predict(question=tricky, passages=["p"])
    assert {name: out[name] for name in VALUES} == VALUES
    call = lm.engine.calls[0]
    assert call.fields == ("label", "items", "sure")
    assert call.inputs["question"] == "why?\nRespond with a JSON object"
    assert "first" in call.inputs["passages"]
    assert "second" in call.inputs["passages"]
    assert call.index == 0
    assert "Describe it." in call.prompt
    assert set(lm.engine.calls[1].inputs) == {"question", "passages"}


def test_threads_change_nothing():
    lm = scripted_lm(lambda call: {"answer": f"about {call.inputs['question']}"}, latency=0.01)
    predict = dspy.Predict("question -> answer")
    with dspy.context(lm=lm):
        pairs = [(predict, {"question": f"q{number}"}) for number in range(24)]
        outs = dspy.Parallel(num_threads=8, disable_progress_bar=True)(pairs)
    assert [out.answer for out in outs] == [f"about q{number}" for number in range(24)]
    assert sorted(call.index for call in lm.engine.calls) == list(range(24))


def test_async_answers_the_same():
    lm = scripted_lm(lambda call: {"answer": call.inputs["question"].upper()})
    predict = dspy.Predict("question -> answer")

    async def ask():
        with dspy.context(lm=lm):
            return await asyncio.gather(*(predict.acall(question=f"q{number}") for number in range(5)))

    assert [out.answer for out in asyncio.run(ask())] == ["Q0", "Q1", "Q2", "Q3", "Q4"]


def test_streaming_by_words():
    lm = scripted_lm({"answer": "one two three"})
    predict = dspy.Predict("question -> answer")
    listener = dspy.streaming.StreamListener(signature_field_name="answer")
    program = dspy.streamify(predict, stream_listeners=[listener], async_streaming=False)
    with dspy.context(lm=lm):
        items: list[Any] = list(cast("Any", program)(question="count"))
    pieces = [item.chunk for item in items if isinstance(item, dspy.streaming.StreamResponse)]
    assert "".join(pieces) == "one two three"
    assert len(pieces) > 1
    assert items[-1].answer == "one two three"


def test_exceptions_raw_text_and_plain_prompts():
    replies = {"raise": RuntimeError("out of order"), "raw": "no format at all"}
    lm = scripted_lm(lambda call: replies[call.inputs["question"]] if call.inputs else "plain")
    with dspy.context(lm=lm):
        with pytest.raises(dspy.LMError, match="out of order"):
            dspy.Predict("question -> answer")(question="raise")
        with pytest.raises(dspy.AdapterParseError):
            dspy.Predict("question -> answer")(question="raw")
    assert lm("hello") == ["plain"]
    assert lm.engine.calls[-1].fields == ()


def test_usage_counts_words_and_caches_are_apart():
    first, second = scripted_lm({"answer": "a b c"}), scripted_lm({"answer": "other"})
    predict = dspy.Predict("question -> answer")
    for lm, expected in ((first, "a b c"), (second, "other"), (first, "a b c")):
        with dspy.context(lm=lm):
            assert predict(question="same").answer == expected
    assert first.model != second.model
    assert len(first.engine.calls) == 1
    usage = first.history[0]["usage"]
    assert usage["completion_tokens"] == 13  # two markers of five words each, and the answer


def test_a_mapping_without_the_field_says_so():
    with dspy.context(lm=scripted_lm({"other": 1})), pytest.raises(dspy.LMError, match="no answer"):
        dspy.Predict("question -> answer")(question="?")


def test_copies_share_the_engine():
    lm = scripted_lm({"answer": "x"})
    assert isinstance(lm.engine, ScriptedEngine)
    assert lm.copy(temperature=1.0).engine is lm.engine
