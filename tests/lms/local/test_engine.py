import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any, Literal

import dspy
import pydantic
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import check, explain, load
from aspectrag.lms.local import engine as local
from aspectrag.lms.local import model
from aspectrag.lms.local.bases import open_base
from aspectrag.lms.local.engine import AsyncLocalEngine, LocalEngine, LocalOptions, shared
from aspectrag.lms.local.lm import LocalLM, local_lm
from aspectrag.lms.local.slots import compact
from aspectrag.lms.tokens import count
from aspectrag.programs.blocks.bare import BareAdapter
from aspectrag.programs.blocks.formats import adapter_for
from aspectrag.programs.trace import record
from aspectrag.signatures import DecomposeCompound, JudgeRelevance, RouteQuestion
from dspy import lm15
from dspy.lm15 import Config, Message, Request
from dspy.utils.exceptions import AdapterParseError, LMTimeoutError
from tiny import tiny_adapter, tiny_base

ROUTES = {"straightforward", "single-step", "compound", "complex"}
RELEVANT = {"type": "object", "properties": {"relevant": {"type": "boolean"}}}


@pytest.fixture
def lm(adapters):
    return load(f"local/{adapters[0]}", cache=False)


@pytest.fixture
def engine(lm):
    return lm.engine


def request(lm, text, schema=None, **config):
    form = {"type": "json_schema", "schema": schema} if schema else None
    return Request(model=lm.model, messages=(Message.user(text),), config=Config(response_format=form, **config))


def asked(lm, signature, **inputs):
    config = inputs.pop("config", {})
    with dspy.context(lm=lm, adapter=adapter_for(lm)):
        return dspy.Predict(signature)(**inputs, config=config)


def test_a_choice_is_one_of_the_labels_and_the_likeliest(lm):
    with record() as trace:
        answer = asked(lm, RouteQuestion, question="Why?")
    (call,) = [step for step in trace.walk() if step.kind == "lm"]
    (output,) = call.outputs
    chances = output["probabilities"]["route"]
    assert set(chances) == ROUTES
    assert sum(chances.values()) == pytest.approx(1, abs=1e-4)
    assert answer.route == max(chances, key=chances.get)
    assert output["text"] == f'{{"route":"{answer.route}"}}'
    assert call.tokens["prompt"] == len("question: Why?\n-> route\n")
    assert call.tokens["completion"] == len(output["text"]) - 1
    assert trace.to_dict()["steps"]


def test_probabilities_come_out_of_the_cache_too(adapters):
    lm = load(f"local/{adapters[0]}")
    for off in (True, False):
        with dspy.context(disable_history=off), record() as trace:
            asked(lm, RouteQuestion, question="Why?")
            asked(lm, RouteQuestion, question="Why?")
        first, second = [step for step in trace.walk() if step.kind == "lm"]
        assert second.cached
        assert first.outputs == second.outputs
        assert first.outputs[0]["probabilities"]["route"]
        assert len(lm.history) == (0 if off else 2)
    assert lm.probabilities == []


def test_each_sample_has_its_probabilities(lm):
    with record() as trace:
        asked(lm, RouteQuestion, question="Why?", config={"n": 3, "temperature": 1.0})
    (call,) = [step for step in trace.walk() if step.kind == "lm"]
    assert [set(output["probabilities"]["route"]) for output in call.outputs] == [ROUTES] * 3


def test_without_a_choice_the_trace_holds_the_text(lm):
    with record() as trace, dspy.context(lm=lm):
        said = lm("Hello", max_tokens=5)
    assert [step.outputs for step in trace.walk()] == [said]


@pytest.mark.parametrize(("threshold", "expected"), [(0.0, True), (1.0, False)])
def test_a_verdict_is_true_from_its_threshold(base, tmp_path, threshold, expected):
    folder = tiny_adapter(tmp_path / "judge", base, 1, thresholds={"relevant": threshold})
    lm = load(f"local/{folder}", cache=False)
    assert asked(lm, JudgeRelevance, question="a", title="b", passage="c").relevant is expected


def test_without_a_threshold_it_is_the_half(lm):
    response = lm.engine.complete(request(lm, "a?", RELEVANT))
    chances = response.provider_data["probabilities"]["relevant"]
    assert json.loads(response.text) == {"relevant": chances["true"] >= 0.5}


def test_choices_are_drawn_above_temperature_0(lm):
    schema = {"type": "object", "properties": {"n": {"enum": list(range(10))}}}

    def drawn(**config):
        return lm.engine.complete(request(lm, "a?", schema, temperature=2.0, **config)).text

    assert drawn(seed=1) == drawn(seed=1)
    assert len({drawn(seed=seed) for seed in range(30)}) > 1
    assert len({drawn() for _ in range(30)}) > 1
    for temperature in (1e-4, 1e-310):
        coldest = lm.engine.complete(request(lm, "a?", schema, temperature=temperature))
        assert coldest.text == lm.engine.complete(request(lm, "a?", schema)).text


def test_labels_that_read_alike_have_a_probability_each(lm):
    schema = {"type": "object", "properties": {"n": {"enum": [1, "1"]}}}
    chances = lm.engine.complete(request(lm, "a?", schema)).provider_data["probabilities"]["n"]
    assert set(chances) == {"1", '"1"'}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-4)


class Side(pydantic.BaseModel):
    opinion: Literal["for", "against"]
    sure: bool


class Mixed(dspy.Signature):
    """Say several things."""

    question: str = dspy.InputField()
    kind: Literal["x", "y"] = dspy.OutputField()
    sides: list[Side] = dspy.OutputField()
    side: Side | None = dspy.OutputField()
    sure: bool | None = dspy.OutputField()


def test_fields_are_filled_in_order(lm):
    for seed in range(6):
        answer = asked(lm, Mixed, question="Why?", config={"temperature": 1.0, "seed": seed, "max_tokens": 1500})
        assert answer.kind in ("x", "y")
        assert all(isinstance(side, Side) for side in answer.sides)
        assert answer.sure in (True, False, None)


def test_what_is_too_long_is_cut_and_said_so(lm, caplog):
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 99}, "b": {"type": "boolean"}}}
    for limit in (1, 12):
        response = lm.engine.complete(request(lm, "a?", schema, max_tokens=limit))
        assert response.finish_reason == "length"
        assert response.text.startswith('{"a":')
        assert "b" not in response.text.removeprefix('{"a":"').partition('","b')[1]
        assert response.usage.output_tokens <= max(limit, len('{"a":'))
    with pytest.raises(AdapterParseError):
        asked(lm, DecomposeCompound, question="Why?", config={"max_tokens": 18})


def test_any_object_can_be_asked_for(lm):
    form = {"type": "json_object"}
    response = lm.engine.complete(
        Request(model=lm.model, messages=(Message.user("a?"),), config=Config(response_format=form, max_tokens=200))
    )
    assert response.text.startswith("{")
    assert response.provider_data is None


def test_plain_text_ends_by_itself_or_at_what_stops_it(lm):
    whole = lm.engine.complete(request(lm, "Tell", max_tokens=20))
    assert whole.usage.output_tokens <= 20
    stop = whole.text[3:5]
    cut = lm.engine.complete(request(lm, "Tell", max_tokens=20, stop=(stop,)))
    assert cut.text == whole.text.partition(stop)[0]


def test_a_prompt_beyond_the_window(lm):
    with pytest.raises(lm15.ContextLengthError, match="the context window of the local model holds 2048"):
        lm.engine.complete(request(lm, "x" * 2048))
    small = load(lm.model, context_window=20, cache=False)
    assert (lm.context_window, small.context_window) == (2048, 20)
    with pytest.raises(dspy.ContextWindowExceededError):
        asked(small, RouteQuestion, question="Why is this so long?")


def test_tokens_are_counted_by_the_tokenizer(lm):
    assert count(lm, "Où?") == 4


class Gate:
    """Holds back the first batch; keeps the sizes of all."""

    def __init__(self, monkeypatch):
        self.open, self.sizes, self._real = threading.Event(), [], local.filled
        monkeypatch.setattr(local, "filled", self)

    def __call__(self, model, name, asked, wanted):
        self.sizes.append(len(asked))
        assert self.open.wait(30)
        return self._real(model, name, asked, wanted)


@pytest.fixture
def gate(monkeypatch):
    made = Gate(monkeypatch)
    yield made
    made.open.set()


def until(what):
    for _ in range(4000):
        if what():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come to that")


def behind_the_gate(lm, gate, jobs):
    """Responses to jobs, models with texts and schemas, that wait while another request is being answered."""
    found = [None] * len(jobs)

    def ask(place):
        one, text, schema = jobs[place]
        found[place] = one.engine.complete(request(one, text, schema))

    threads = [threading.Thread(target=lm.engine.complete, args=(request(lm, "first", max_tokens=3),))]
    threads[0].start()
    until(lambda: gate.sizes == [1])
    for place in range(len(jobs)):
        threads.append(threading.Thread(target=ask, args=(place,)))
        threads[-1].start()
        until(lambda count=place + 1: len(lm.engine._waiting) == count)
    gate.open.set()
    for thread in threads:
        thread.join()
    return found


def chances_of(response):
    return {
        (name, label): chance
        for name, each in response.provider_data["probabilities"].items()
        for label, chance in each.items()
    }


def test_those_that_wait_together_are_answered_together(adapters, gate):
    lm = local_lm(f"local/{adapters[0]}", LocalOptions(max_batch=4), max_tokens=5)
    jobs = [(lm, text, RELEVANT) for text in ("a", "bb", "ccc", "dddd", "eeeee", "What is the longest of all rivers?")]
    found = behind_the_gate(lm, gate, jobs)
    assert gate.sizes == [1, 4, 2]
    for job, response in zip(jobs, found, strict=True):
        alone = lm.engine.complete(request(*job))
        assert alone.text == response.text
        assert chances_of(alone) == pytest.approx(chances_of(response), abs=1e-4)


def test_adapters_and_fields_are_kept_apart(adapters, gate):
    lms = [local_lm(f"local/{folder}", LocalOptions(max_batch=3)) for folder in adapters]
    other = {"type": "object", "properties": {"useful": {"type": "boolean"}}}
    jobs = [(lm, "a?", schema) for schema in (RELEVANT, other) for lm in lms] * 2
    found = behind_the_gate(lms[0], gate, jobs)
    assert gate.sizes == [1, *[2] * 6]
    for (lm, text, schema), response in zip(jobs, found, strict=True):
        assert response.model == lm.model
        assert set(json.loads(response.text)) == set(schema["properties"])
        alone = lm.engine.complete(request(lm, text, schema))
        assert chances_of(alone) == pytest.approx(chances_of(response), abs=1e-4)


def test_who_waits_too_long_is_told(adapters, gate):
    lm = local_lm(f"local/{adapters[0]}", LocalOptions(timeout=0.1), cache=False)
    with pytest.raises(LMTimeoutError, match=r"within 0\.1 seconds"):
        asked(lm, RouteQuestion, question="Why?")

    async def wait():
        with dspy.context(lm=lm, adapter=adapter_for(lm)):
            await dspy.Predict(RouteQuestion).acall(question="How?")

    with pytest.raises(LMTimeoutError, match=r"within 0\.1 seconds"):
        asyncio.run(wait())
    gate.open.set()
    until(lambda: not lm.engine._waiting)
    assert sum(gate.sizes) == 1


def test_the_clock_runs_while_the_model_is_at_work(adapters, monkeypatch):
    lm = local_lm(f"local/{adapters[0]}", LocalOptions(timeout=0.1), cache=False)
    at_work, on = threading.Event(), threading.Event()
    real = model.likelihoods
    monkeypatch.setattr(model, "likelihoods", lambda *args: at_work.set() or (on.wait(30) and real(*args)))
    told = []

    def ask():
        try:
            lm.engine.complete(request(lm, "a?", RELEVANT))
        except lm15.TimeoutError as error:
            told.append(error)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    threads[0].start()
    assert at_work.wait(30)
    threads[1].start()
    for thread in threads:
        thread.join(10)
    in_time = len(told)
    on.set()
    assert in_time == 2


def test_the_clock_runs_while_a_request_is_read(adapters, monkeypatch):
    lm = local_lm(f"local/{adapters[0]}", LocalOptions(timeout=0.3), cache=False)
    real = local.read
    monkeypatch.setattr(local, "read", lambda *args: time.sleep(0.4) or real(*args))
    with pytest.raises(lm15.TimeoutError):
        lm.engine.complete(request(lm, "a?", RELEVANT))
    with pytest.raises(lm15.TimeoutError):
        asyncio.run(AsyncLocalEngine(lm.engine).complete(request(lm, "a?", RELEVANT)))


def test_what_was_cancelled_while_it_was_read_is_not_asked(lm, gate, monkeypatch):
    gate.open.set()
    reading, on = threading.Event(), threading.Event()
    real = local.read
    monkeypatch.setattr(local, "read", lambda *args: reading.set() or (on.wait(30) and real(*args)))

    async def ask():
        task = asyncio.create_task(AsyncLocalEngine(lm.engine).complete(request(lm, "a?", RELEVANT)))
        await asyncio.to_thread(reading.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        on.set()

    asyncio.run(ask())
    lm.engine.complete(request(lm, "b?", RELEVANT))
    assert gate.sizes == [1]


def test_what_nobody_waits_for_is_not_written_on(lm, monkeypatch):
    written = []
    real = local.filled

    def kept(*args, **kwargs):
        answers = real(*args, **kwargs)
        written.extend(answers)
        return answers

    monkeypatch.setattr(local, "filled", kept)
    hasty = LocalEngine(LocalOptions(timeout=0.2))
    long = {"type": "object", "properties": {"a": {"type": "string", "minLength": 5000}}}
    with pytest.raises(lm15.TimeoutError):
        hasty.complete(request(lm, "a?", long))
    until(lambda: written)
    assert written[0].cut
    assert len(written[0].ids) < 1500


def test_the_interpreter_ends_while_something_is_written(base):
    script = (
        "from aspectrag.lms import load\n"
        f"lm = load('local/{base}', timeout=0.2, cache=False, max_tokens=2000)\n"
        "try: lm('Hello')\n"
        "except Exception as error: print(type(error).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "LMTimeoutError"), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_forked_process_answers_while_its_parent_is_at_work(base):
    script = f"""
import os, signal, threading
from aspectrag.lms import load
from aspectrag.lms.local import model

lm = load("local/{base}", cache=False, max_tokens=3)
lm("Hello")
real, at_work = model.padded, threading.Event()
model.padded = lambda *args: at_work.set() or threading.Event().wait()
threading.Thread(target=lm, args=("Hello",), daemon=True).start()
at_work.wait()
model.padded = real
if child := os.fork():
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
signal.alarm(60)
os._exit(not lm("Hello"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_awaiting(lm):
    async def ask():
        with dspy.context(lm=lm, adapter=adapter_for(lm)), record() as trace:
            answers = await asyncio.gather(*(dspy.Predict(RouteQuestion).acall(question=str(i)) for i in range(6)))
        return answers, [step.outputs[0]["probabilities"] for step in trace.walk() if step.kind == "lm"]

    answers, measured = asyncio.run(ask())
    assert [answer.route for answer in answers] == [asked(lm, RouteQuestion, question=str(i)).route for i in range(6)]
    assert len(measured) == 6


def test_streaming_gives_the_answer_in_one_piece(lm):
    with dspy.context(lm=lm, adapter=adapter_for(lm)), record() as trace:
        streamed: Any = dspy.streamify(dspy.Predict(RouteQuestion), async_streaming=False)
        *_, last = streamed(question="Why?")
    assert last.route in ROUTES
    (call,) = [step for step in trace.walk() if step.kind == "lm"]
    assert set(call.outputs[0]["probabilities"]["route"]) == ROUTES


def test_a_copy_can_have_another_adapter(adapters, lm, base):
    other = lm.copy(model=load(f"local/{adapters[1]}").model)
    assert isinstance(other, LocalLM)
    assert (other.engine, other.prompt) == (lm.engine, "bare")
    untuned = lm.copy(model=load(f"local/{base}").model)
    assert untuned.prompt is None
    chances = [
        each.engine.complete(request(each, "a?", RELEVANT)).provider_data["probabilities"]["relevant"]["true"]
        for each in (lm, other, untuned)
    ]
    assert len({round(chance, 4) for chance in chances}) == 3


def test_the_format_is_the_adapters(adapters, base, tmp_path):
    assert isinstance(adapter_for(load(f"local/{adapters[0]}")), BareAdapter)
    chat = tiny_adapter(tmp_path / "chat", base, prompt="chat")
    assert not isinstance(adapter_for(load(f"local/{chat}")), BareAdapter)
    assert not isinstance(adapter_for(load(f"local/{base}")), BareAdapter)


def test_it_can_be_saved_and_opened(lm, tmp_path):
    predictor = dspy.Predict(RouteQuestion)
    predictor.set_lm(lm)
    predictor.save(tmp_path / "state.json")
    opened = dspy.Predict(RouteQuestion)
    opened.load(tmp_path / "state.json", allow_unsafe_lm_state=True)
    assert isinstance(opened.lm, LocalLM)
    assert (opened.lm.model, opened.lm.engine) == (lm.model, lm.engine)


def test_engines_are_shared_and_not_copied():
    assert shared(LocalOptions(max_batch=2)) is shared(LocalOptions(max_batch=2))
    assert shared(LocalOptions(max_batch=2)) is not shared(LocalOptions(max_batch=3))
    import copy

    engine = LocalEngine()
    twin = AsyncLocalEngine(engine)
    assert copy.deepcopy(engine) is engine
    assert copy.deepcopy(twin) is twin


def test_engines_of_other_options_share_the_base(tmp_path, monkeypatch):
    folder = tiny_base(tmp_path / "base")
    opened = []
    monkeypatch.setattr(model, "open_base", lambda *args: opened.append(args) or open_base(*args))
    for size in (2, 3):
        lm = local_lm(f"local/{folder}", LocalOptions(max_batch=size), cache=False)
        lm.engine.complete(request(lm, "a?", RELEVANT))
    assert len(opened) == 1


def test_a_thread_that_nobody_asks_ends(lm, monkeypatch):
    monkeypatch.setattr(local, "_IDLE_SECONDS", 0.01)
    engine = LocalEngine()
    for _ in range(2):
        assert engine.complete(request(lm, "a?", RELEVANT)).text
        thread = engine._thread
        if thread is not None:
            thread.join(10)
        assert engine._thread is None


def test_options(adapters):
    name = f"local/{adapters[0]}"
    assert load(name, extra={"max_batch": 3}).engine.options.max_batch == 3
    assert load(name).kwargs == {"temperature": 0.0, "max_tokens": 512}
    assert load(name, timeout=3, context_window=100_000).engine.options == LocalOptions(timeout=3)
    with pytest.raises(AspectragError, match="local models have no option 'max_bach': did you mean 'max_batch'"):
        load(name, extra={"max_bach": 3})
    with pytest.raises(AspectragError, match="is no local model"):
        load("local/nowhere")


def test_what_is_wrong_is_said_in_a_line(lm, base, adapters, tmp_path):
    gone = lm.copy(model="local/gone@12345678")
    with pytest.raises(dspy.LMError) as caught:
        gone("Hello")
    assert explain(caught.value).startswith("gone is no local model: give a folder")
    broken = tiny_adapter(tmp_path / "broken", base, 4)
    (broken / "adapter_model.safetensors").write_bytes(b"no weights")
    with pytest.raises(dspy.LMError) as caught:
        asked(load(f"local/{broken}"), RouteQuestion, question="Why?")
    assert "cannot be opened" in explain(caught.value)
    with pytest.raises(lm15.InvalidRequestError, match="cannot be held to this schema"):
        lm.engine.complete(request(lm, "a", {"properties": {"a": {"type": "string", "pattern": "(?=a)b"}}}))
    assert asked(lm, RouteQuestion, question="Why?").route in ROUTES


def test_it_can_be_checked(lm):
    assert check(lm).ok


def test_control_tokens_of_a_document_are_text(lm):
    schema = {"type": "object", "properties": {"a": {"enum": ["<|im_end|>", "b"]}}}
    response = lm.engine.complete(request(lm, "So.<|im_end|>", schema))
    assert response.usage.input_tokens == len("So.<| im_end |>\n")
    assert compact(json.loads(response.text)) == response.text
