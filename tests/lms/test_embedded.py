"""The real embedded model: few tests, each on what only the real thing can show."""

import asyncio
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from typing import Any, Literal, cast

import dspy
import pydantic
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import load
from aspectrag.lms.artifacts import fetch
from aspectrag.lms.embedded import AsyncEmbeddedEngine, EmbeddedEngine, EmbeddedOptions
from dspy.lm15 import Config, Message, Request

pytestmark = pytest.mark.embedded
if find_spec("openvino_genai") is None:
    pytest.skip("openvino-genai is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def engine():
    try:
        fetch("lm", progress=False)
    except AspectragError as error:
        pytest.skip(f"no weights: {error}")
    made = EmbeddedEngine(EmbeddedOptions(cache_gib=1))
    yield made
    made.close()


@pytest.fixture
def lm(engine):
    options: dict[str, Any] = {"temperature": 0.0, "max_tokens": 200, "cache": False, "num_retries": 0}
    return dspy.LM("embedded/test", engine=engine, async_engine=AsyncEmbeddedEngine(engine), **options)


def request(text, **config):
    return Request(model="embedded/test", messages=(Message.user(text),), config=Config(**config))


class City(pydantic.BaseModel):
    name: str
    continent: Literal["Europe", "Asia", "Africa", "America"]


class Cities(dspy.Signature):
    """Name capitals."""

    countries: list[str] = dspy.InputField()
    cities: list[City] = dspy.OutputField()
    subject: Literal["geography", "cooking"] = dspy.OutputField()
    are_capitals: bool = dspy.OutputField()
    number: int = dspy.OutputField()


def test_typed_output_always_parses(lm):
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        out = dspy.Predict(Cities)(countries=["France", "Japan"])
    assert all(isinstance(city, City) for city in out.cities)
    assert out.cities[0] == City(name="Paris", continent="Europe")
    assert out.subject == "geography"
    assert isinstance(out.are_capitals, bool)
    assert isinstance(out.number, int)
    usage = lm.history[-1]["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


CAPITALS = {
    "France": "Paris",
    "Spain": "Madrid",
    "Italy": "Rome",
    "Japan": "Tokyo",
    "China": "Beijing",
    "Egypt": "Cairo",
    "Peru": "Lima",
    "Greece": "Athens",
}


class Capital(dspy.Signature):
    """Name the capital."""

    country: str = dspy.InputField()
    capital: str = dspy.OutputField()


def test_eight_callers_at_once_get_their_own_answers(lm):
    predict = dspy.Predict(Capital)
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        pairs = [(predict, {"country": country}) for country in CAPITALS]
        outs = dspy.Parallel(num_threads=8, disable_progress_bar=True)(pairs)
        assert [out.capital for out in outs] == list(CAPITALS.values())

        async def ask():
            return await asyncio.gather(*(predict.acall(country=country) for country in ("France", "Japan")))

        assert [out.capital for out in asyncio.run(ask())] == ["Paris", "Tokyo"]


def test_generation_parameters_are_honoured(engine):
    counting = "Count from one to ten in words, separated by commas."
    cut = engine.complete(request(counting, max_tokens=4))
    assert cut.finish_reason == "length"
    assert cut.usage.output_tokens == 4
    stopped = engine.complete(request(counting, max_tokens=40, stop=("hree",)))
    assert stopped.finish_reason == "stop"
    assert stopped.message.text.lower().startswith("one, two, t")
    assert "hree" not in stopped.message.text
    again = engine.complete(request(counting, max_tokens=40, stop=("hree",)))
    assert again.message.text == stopped.message.text
    story = "Invent a name for a ship."
    same = {engine.complete(request(story, max_tokens=6, temperature=1.5, seed=5)).message.text for _ in range(2)}
    different = {engine.complete(request(story, max_tokens=6, temperature=1.5)).message.text for _ in range(4)}
    assert len(same) == 1
    assert len(different) > 1


def test_a_prompt_longer_than_the_window_is_refused_with_both_numbers(lm):
    with pytest.raises(dspy.ContextWindowExceededError, match=r"the prompt has \d{5} tokens.* 32768"):
        lm("word " * 40_000)


def test_the_tokenizer_has_no_limit_of_its_own(engine):
    assert engine.count_tokens("word " * 20_000) >= 20_000


def test_streaming(lm):
    listener = dspy.streaming.StreamListener(signature_field_name="answer")
    program = dspy.streamify(dspy.Predict("question -> answer"), stream_listeners=[listener], async_streaming=False)
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        items: list[Any] = list(cast("Any", program)(question="Name three fruits, nothing else."))
    pieces = [item.chunk for item in items if isinstance(item, dspy.streaming.StreamResponse)]
    assert len(pieces) > 2
    assert "".join(pieces).strip() == items[-1].answer.strip()


def test_streamed_and_whole_answers_are_the_same_text(engine):
    asked = request("Écris « ça va » en japonais et en russe.", max_tokens=16)
    pieces = [event.delta.text for event in engine.stream(asked) if event.type == "delta"]
    assert "".join(pieces) == engine.complete(asked).message.text


def test_a_schema_the_pipeline_does_not_know_harms_nobody_else(lm):
    bystander: list[Any] = []
    other = threading.Thread(target=lambda: bystander.append(lm("Count from one to ten in words.")))
    other.start()
    time.sleep(0.5)
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "nonsense"}}}
    with pytest.raises(dspy.LMError, match="refuses the request: Unsupported type"):
        lm("hi", response_format=schema)
    other.join(60)
    assert "three" in bystander[0][0]


def test_given_up_requests_are_freed(engine):
    impatient = EmbeddedEngine(EmbeddedOptions(cache_gib=1, timeout=0.5))
    impatient._pipeline, impatient._tokenizer = engine._pipeline, engine._tokenizer
    with pytest.raises(TimeoutError):
        impatient.complete(request("Tell a long story.", max_tokens=2000))
    events = engine.stream(request("Tell a long story.", max_tokens=2000))
    next(events)
    next(events)
    events.close()

    async def cancelled():
        task = asyncio.create_task(AsyncEmbeddedEngine(engine).complete(request("Tell a long story.", max_tokens=2000)))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert not engine._pipeline._jobs
    assert engine.complete(request("Say yes.", max_tokens=3)).message.text


def test_a_killed_process_is_replaced(engine):
    engine.complete(request("Say yes.", max_tokens=3))
    threading.Timer(0.5, engine._pipeline._process.kill).start()
    assert engine.complete(request("Count to twenty in words.", max_tokens=12)).usage.output_tokens == 12


def test_the_interpreter_ends_at_once_and_quietly():
    code = (
        "import threading\n"
        "from aspectrag.lms import load\n"
        "lm = load(max_tokens=500)\n"
        "threading.Thread(target=lambda: lm('Tell a long story.', cache=False), daemon=True).start()\n"
        "lm('Say yes.', max_tokens=2, cache=False)\n"
        "raise SystemExit(3)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 3
    assert not [line for line in done.stderr.splitlines() if "truncated" not in line]
    assert not done.stdout


def test_nothing_is_reported_over_the_network(engine):
    engine.count_tokens("x")
    assert sys.modules["openvino_telemetry"] is None
    assert "Telemetry" in sys.modules["openvino.tools.ovc.telemetry_utils"].tm.__dict__
    assert sys.modules["openvino.tools.ovc.telemetry_utils"].tm.__name__.endswith("stub")


def test_load_gives_this_model():
    lm = load()
    assert lm.supports_response_schema
    assert "response_format" in lm.supported_params
