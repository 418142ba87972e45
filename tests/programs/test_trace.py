import gc
import json

import dspy
import numpy as np
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.direct import Direct
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.program import Program
from aspectrag.programs.trace import Recorder, Step, Trace, note, plain, record, step
from evaluation import retriever


def answer(call):
    return dict.fromkeys(call.fields, "x")


def test_steps_nest_and_notes_fall_where_they_happen():
    with record() as trace, step("retrieval", "outer", {"q": 1}) as outer:
        note("warning", "inner", "careful")
        outer.outputs = "done"
    (top,) = trace.steps
    assert (top.name, top.outputs, [child.outputs for child in top.children]) == ("outer", "done", ["careful"])
    assert top.seconds >= 0


def test_steps_cost_nothing_where_nobody_records():
    with step("retrieval", "x") as own:
        own.outputs = 1
    note("warning", "x", "y")


def test_an_exception_closes_every_open_step():
    with record() as trace, pytest.raises(ZeroDivisionError), step("branch", "a"), step("branch", "b"):
        raise ZeroDivisionError("no")
    assert [s.error for s in trace.walk()] == ["ZeroDivisionError: no"] * 2


def test_cached_calls_are_marked_and_cost_nothing():
    lm = scripted_lm(answer)
    predict = dspy.Predict("question -> answer")
    with dspy.context(lm=lm), record() as trace:
        predict(question="a")
        predict(question="a")
    calls = [s for s in trace.walk() if s.kind == "lm"]
    assert [call.cached for call in calls] == [False, True]
    assert trace.usage["lm_calls"] == 1
    assert trace.usage["cached_calls"] == 1
    assert trace.usage["prompt_tokens"] == calls[0].tokens["prompt"] > 0


def test_how_likely_labels_are_stands_beside_the_text():
    lm = scripted_lm(answer)
    lm.probabilities = [{"kind": {"a": 0.75, "b": 0.25}}]
    with record() as trace, dspy.context(lm=lm):
        said = lm("Hello")
    (call,) = trace.walk()
    assert call.outputs == [{"text": said[0], "probabilities": {"kind": {"a": 0.75, "b": 0.25}}}]
    assert Trace.from_dict(trace.to_dict()).steps[0].outputs == call.outputs


def test_a_recording_inside_another_joins_it():
    with record() as outer:
        with record() as inner, step("branch", "x"):
            pass
        assert inner is outer
    assert len(outer.steps) == 1


def test_round_trip_and_file(tmp_path):
    with dspy.context(lm=scripted_lm(answer)), record() as trace, step("retrieval", "团队 \ud83d </script>"):
        dspy.Predict("question -> answer")(question="团队")
    trace.save(tmp_path / "t.json")
    loaded = Trace.from_dict(json.loads((tmp_path / "t.json").read_text(encoding="utf-8")))
    assert loaded.usage == trace.usage
    assert [s.kind for s in loaded.walk()] == [s.kind for s in trace.walk()]


def test_it_is_written_as_a_page_too(tmp_path):
    Trace([Step("program", "Rag", {"question": "<b>?"}, {"answer": "So."})]).save(tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "<title>t.html</title>" in page
    assert "&lt;b&gt;?" in page


def test_a_file_is_read_as_it_was_written(tmp_path):
    with record() as trace, step("retrieval", "outer", {"q": 1}):
        note("warning", "inner", "careful")
    trace.save(tmp_path / "t.json")
    assert Trace.load(tmp_path / "t.json") == trace
    with pytest.raises(AspectragError, match=r"none\.json cannot be read: No such file"):
        Trace.load(tmp_path / "none.json")


STEP = Step("module", "x", tokens={"prompt": 1}).to_dict()


@pytest.mark.parametrize(
    "record",
    [
        '{"steps": [', "[]", "5", "{}", '{"steps": 5}', '{"steps": [5]}', '{"steps": [{"kind": "lm"}]}', "\xff",
        *(json.dumps({"steps": [{**STEP, **change}]}) for change in (
            {"kind": 1}, {"name": None}, {"seconds": "long"}, {"started": None}, {"seconds": float("inf")},
            {"error": 5}, {"tokens": None}, {"tokens": {"prompt": "many"}}, {"cached": "no"}, {"children": None},
            {"other": 1}, {"started": 1e308}, {"seconds": -1},
        )),
        '{"steps": [' + '{"children": [' * 5000,
    ],
)  # fmt: skip
def test_a_damaged_file_is_told_in_one_line(tmp_path, record):
    (tmp_path / "t.json").write_bytes(record.encode("latin-1"))
    with pytest.raises(AspectragError, match=r"t\.json is no trace, or damaged") as caught:
        Trace.load(tmp_path / "t.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.arange(3), [0, 1, 2]),
        ({1: (2, {3})}, {"1": [2, [3]]}),
        (Passage("a", "b", "c").to_dict()["meta"], {}),
        (dspy.Prediction(answer="x"), {"answer": "x"}),
        (Step("a", "b").kind, "a"),
        ({"api_key": "k", "max_tokens": 5, "api_base": ""}, {"api_key": "***", "max_tokens": 5, "api_base": ""}),
        (ValueError("x"), "x"),
    ],
)
def test_everything_becomes_plain(value, expected):
    assert plain(value) == expected
    json.dumps(plain(value))


def test_no_secret_reaches_a_trace(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "s3cr3t-value-of-mine")
    inputs = {"headers": {"Authorization": "Bearer abc"}, "spent": {"sk-proj-abcdefgh123456": 3}}
    with record() as trace, pytest.raises(RuntimeError), step("lm", "x", inputs):
        raise RuntimeError("Incorrect API key provided: sk-proj-abcdefgh123456, s3cr3t-value-of-mine")
    text = json.dumps(trace.to_dict())
    assert "abcdefgh" not in text
    assert "s3cr3t" not in text
    assert "Bearer abc" not in text


def test_a_trace_goes_with_its_result():
    def steps():
        gc.collect()
        return sum(type(each) is Step for each in gc.get_objects())

    program, before = Rag(None, retriever()), steps()
    with dspy.context(lm=scripted_lm(answer), disable_history=True, trace=None):
        results = [program(question=f"What is {n}?") for n in range(3)]
    assert steps() > before
    del results
    assert steps() == before


def test_what_did_not_end_says_so_and_is_no_call_from_the_cache():
    recorder = Recorder()
    recorder.on_lm_start("1", scripted_lm(answer), {"prompt": "a"})
    (call,) = recorder.trace.steps
    assert (call.error, call.cached) == ("not finished", None)
    assert (recorder.trace.usage["lm_calls"], recorder.trace.usage["cached_calls"]) == (1, 0)
    recorder.on_lm_end("1", None, KeyboardInterrupt())
    assert (call.error, call.cached) == ("KeyboardInterrupt", False)


class Outer(Program):
    retrieves = False

    def __init__(self):
        super().__init__()
        self.inner = Direct()

    def forward(self, question):
        return self.inner(question=question)


def test_a_program_that_hands_on_the_result_of_another_spends_it_once():
    with dspy.context(lm=scripted_lm(answer)):
        out = Outer()(question="a")
    assert [each.name for each in out.trace.steps] == ["Outer"]
    assert out.usage["lm_calls"] == 1
