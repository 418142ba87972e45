import json
import threading
import time

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import check, explain, load, resolve
from werkzeug import Response

KEY = "sk-0123456789abcdef"


def answered(text, **usage):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, **usage}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": counts}


@pytest.fixture
def server(make_httpserver):
    make_httpserver.clear()
    yield make_httpserver
    make_httpserver.clear()


@pytest.fixture
def other(request):
    from pytest_httpserver import HTTPServer

    second = HTTPServer()
    second.start()
    yield second
    second.stop()


def chat(server):
    return server.expect_request("/v1/chat/completions", method="POST")


def at(server, **options):
    return load("openai/m", api_base=server.url_for("/v1"), **options)


@pytest.fixture(params=["openai", "lm_studio"])
def spec(request):
    """A server through each of the two ways DSPy has: its own client, and LiteLLM."""
    return f"{request.param}/m"


def test_same_model_at_two_addresses_does_not_share_the_cache(server, other, spec):
    for one, text in ((server, "first"), (other, "second")):
        chat(one).respond_with_json(answered(text))
    first, second = (load(spec, api_base=one.url_for("/v1")) for one in (server, other))
    assert [first("hi"), second("hi"), first("hi"), second("hi")] == [["first"], ["second"], ["first"], ["second"]]
    assert len(server.log) == len(other.log) == 1
    again = load(spec, api_base=server.url_for("/v1"))
    assert again("hi") == ["first"]
    assert len(server.log) == 1
    for request, _ in server.log + other.log:
        body = json.loads(request.data)
        assert body["model"] == "m"
        assert set(body) <= {"model", "messages", "temperature", "max_tokens", "stream"}


def test_generation_parameters_reach_the_server(server):
    chat(server).respond_with_json(answered("x"))
    at(server, temperature=0.3, max_tokens=17, extra={"top_p": 0.5})("hi")
    body = json.loads(server.log[0][0].data)
    assert (body["temperature"], body["max_tokens"], body["top_p"]) == (0.3, 17, 0.5)


def test_the_default_is_deterministic(server):
    chat(server).respond_with_json(answered("x"))
    at(server)("hi")
    assert json.loads(server.log[0][0].data)["temperature"] == 0.0


@pytest.mark.parametrize("model", ["gpt-5-mini", "o3"])
def test_reasoning_models_are_not_sent_a_temperature(server, model):
    chat(server).respond_with_json(answered("x"))
    load(f"openai/{model}", api_base=server.url_for("/v1"), max_tokens=100)("hi")
    body = json.loads(server.log[0][0].data)
    assert "temperature" not in body
    assert body.get("max_completion_tokens", body.get("max_tokens")) >= 16_000
    assert load(f"openai/{model}").kwargs["temperature"] is None


def test_a_burst_of_429_is_waited_out_as_the_server_asks(server, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("aspectrag.lms.patient.time.sleep", slept.append)
    busy = Response("{}", status=429, headers={"Retry-After": "7"}, content_type="application/json")
    for _ in range(2):
        server.expect_ordered_request("/v1/chat/completions").respond_with_response(busy)
    server.expect_ordered_request("/v1/chat/completions").respond_with_json(answered("at last"))
    assert at(server)("hi") == ["at last"]
    assert slept == [7.0, 7.0]


FAILURES = {
    "401": (401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}), "refuses the key", "MY_LM"),
    "404": (404, json.dumps({"error": {"message": "no model m"}}), "does not know", "name of the model"),
    "429": (429, json.dumps({"error": {"message": "slow down"}}), "too many requests", "fewer threads"),
    "500": (500, json.dumps({"error": {"message": "boom"}}), "failed", "try again later"),
    "html": (200, "<html><body>Please log in</body></html>", "web page", "api_base"),
    "html 503": (503, "<html><body>down</body></html>", "failed", "try again later"),
    "empty": (200, json.dumps(answered("")), "answered with nothing", "max_tokens"),
    "no choices": (200, json.dumps({**answered(""), "choices": []}), "answered with nothing", "max_tokens"),
    "formless": (200, json.dumps(answered("blue, I would say")), "did not keep to the form", "larger model"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_check_says_what_is_wrong_and_what_to_do(server, spec, failure, monkeypatch):
    status, body, message, remedy = FAILURES[failure]
    monkeypatch.setenv("MY_LM", KEY)
    kind = "text/html" if body.startswith("<") else "application/json"
    chat(server).respond_with_data(body, status=status, content_type=kind)
    result = check(load(spec, api_base=server.url_for("/v1"), api_key_env="MY_LM"))
    assert not result.ok
    assert message in result.message
    if spec.startswith("openai") or failure != "401":
        assert remedy in result.remedy
    assert KEY not in repr(result)
    assert "\n" not in result.message + result.remedy


def test_check_of_a_server_that_works(server, spec):
    good = "[[ ## colour ## ]]\nblue\n\n[[ ## reason ## ]]\nscattering\n\n[[ ## completed ## ]]"
    if spec.startswith("lm_studio"):  # of which LiteLLM knows that it holds to schemas
        good = '{"colour": "blue", "reason": "scattering"}'
    chat(server).respond_with_json(answered(good))
    result = check(load(spec, api_base=server.url_for("/v1")))
    assert (result.ok, result.tokens, result.remedy) == (True, 5, "")


def test_nobody_listens(spec):
    result = check(load(spec, api_base="http://127.0.0.1:9/v1"))
    assert "no server answers" in result.message
    assert "start the server" in result.remedy


def test_an_answer_that_does_not_come(server, spec):
    gone = threading.Event()

    def wait(_):
        gone.wait(5)
        return Response("{}")

    chat(server).respond_with_handler(wait)
    started = time.perf_counter()
    result = check(load(spec, api_base=server.url_for("/v1"), timeout=0.3))
    gone.set()
    assert "did not answer in time" in result.message
    assert time.perf_counter() - started < 4


def test_keys_are_nowhere_to_be_read(server, monkeypatch):
    secret = "plain-words-nobody-would-guess"
    monkeypatch.setenv("MY_LM", secret)
    chat(server).respond_with_data(f'{{"error": {{"message": "bad key {secret}"}}}}', status=401)
    lm = at(server, api_key_env="MY_LM")
    with pytest.raises(dspy.LMError) as refused:
        lm("hi")
    assert secret not in explain(refused.value)
    assert "***" in explain(refused.value)
    assert f"Bearer {secret}" in [request.headers["Authorization"] for request, _ in server.log]
    server.clear()
    chat(server).respond_with_json(answered("x"))
    lm("hi")
    assert secret not in repr(lm) + repr(lm.history) + repr(lm.dump_state()) + repr(lm.kwargs)
    assert secret not in repr(resolve("openai/m", api_key_env="MY_LM"))


def test_a_named_key_that_is_not_set(server):
    with pytest.raises(AspectragError, match="MY_LM, which is not set"):
        at(server, api_key_env="MY_LM")


def test_schemas_are_sent_to_servers_that_hold_to_them(server):
    chat(server).respond_with_json(answered('{"answer": true}'))
    lm = load("hosted_vllm/m", api_base=server.url_for("/v1"))
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        assert dspy.Predict("question -> answer: bool")(question="?").answer is True
    sent = json.loads(server.log[0][0].data)["response_format"]
    assert sent["json_schema"]["schema"]["properties"]["answer"]["type"] == "boolean"
    assert not at(server).supports_response_schema
    assert at(server, json_schema=True).supports_response_schema


def test_ollama_is_told_its_context(server):
    server.expect_request("/api/show").respond_with_json({"model_info": {}})
    reply = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "x"}}
    counts = {"done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1}
    server.expect_request("/api/chat").respond_with_json({**reply, **counts})
    lm = load("ollama_chat/m", api_base=server.url_for("").rstrip("/"), num_ctx=4096)
    assert lm("hi") == ["x"]
    body = next(json.loads(request.data) for request, _ in server.log if request.path == "/api/chat")
    assert body["options"]["num_ctx"] == 4096
    assert "server" not in json.dumps(body)
    assert vars(lm)["context_window"] == 4096
    assert vars(load("ollama_chat/m"))["context_window"] == 8192


def test_context_window_survives_copies(server):
    lm = at(server, context_window=1234)
    assert vars(lm.copy(temperature=1.0))["context_window"] == 1234
    assert vars(load("openai/gpt-4o-mini"))["context_window"] == 128_000
    assert vars(at(server))["context_window"] is None


def test_the_embedded_model_is_the_default_and_loads_nothing():
    lm = load()
    assert lm.model.startswith("embedded/qwen2.5-coder-1.5b")
    assert vars(lm)["context_window"] == 32_768
    assert lm.kwargs["temperature"] == 0.0
    assert load("embedded").engine is lm.engine
    assert load("embedded", context_window=2048).engine is not lm.engine
    assert vars(load("embedded", context_window=2048))["context_window"] == 2048


def test_bad_specs_and_options():
    with pytest.raises(AspectragError, match="did you mean 'embedded'"):
        load("embeded")
    with pytest.raises(AspectragError, match="did you mean 'temperature'"):
        load("openai/m", temprature=1)
    with pytest.raises(AspectragError, match="api_key_env"):
        load("openai/m", api_key=KEY)
    with pytest.raises(AspectragError, match="max_tokens"):
        load("openai/m", max_tokens="many")
    with pytest.raises(AspectragError, match="not an address"):
        load("openai/m", api_base="localhost:8000")
    with pytest.raises(AspectragError, match="cache_gib"):
        load("embedded", extra={"cache_gb": 3})


def test_our_own_errors_are_explained_as_they_are():
    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = AspectragError("no weights: do this")
    assert explain(wrapped) == "no weights: do this"
