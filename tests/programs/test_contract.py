"""What every program owes its users, whatever its method."""

import asyncio
import copy
import json
import subprocess
import sys
import time
from typing import Any

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.registry import METHODS
from aspectrag.programs.rich_rag import RichRagConfig
from fakes import ListRetriever, by_fields

# What steers a program into each of its paths: the field that decides, and its values.
PATHS = {
    "typed": ("type", ["EVIDENCE-BASED", "COMPARISON", "EXPERIENCE", "REASON", "INSTRUCTION", "DEBATE"]),
    "han": ("route", ["straightforward", "single-step", "compound", "complex"]),
    "adaptive": ("look_ups", ["none", "single", "multiple"]),
    "self-rag": ("retrieve", [True, False]),
    "adaptive-retrieval": ("popularity", [5, 1]),
}
# Settings under which a program is run, where its own need weights.
CONFIGS = {"rich": [RichRagConfig(ranker="lm"), RichRagConfig(ranker="similarity"), RichRagConfig(ranker="retrieval")]}
# Every program, once per path and settings.
CASES = [(name, config, field, value) for name in METHODS for config in CONFIGS.get(name, [None])
         for field, values in [PATHS.get(name, ("type", ["FACTOID"]))] for value in values]  # fmt: skip
QUESTION = "Should nuclear power replace coal?"


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{getattr(case[1], 'ranker', case[3])}")
def case(request):
    name, config, field, value = request.param
    return METHODS[name](config, ListRetriever()), by_fields(**{field: value})


def test_predictors_are_discoverable_and_named_by_their_attribute(case):
    program, _ = case
    names = [name for name, _ in program.named_predictors()]
    assert names
    assert all(getattr(program, name) is predictor for name, predictor in program.named_predictors())


def test_result_has_every_field_and_is_json_ready(case):
    program, reply = case
    with dspy.context(lm=scripted_lm(reply)):
        out = program(question=QUESTION)
    expected = {"answer", "route", "sub_questions", "passages", "citations", "steps", "stopped_by", "fallbacks"}
    assert set(out.keys()) == expected
    assert out.answer
    assert out.fallbacks == []
    assert json.loads(json.dumps(out.trace.to_dict()))["usage"] == out.usage
    for citation in out.citations:
        assert out.passages[citation.number - 1].id == citation.passage_id


def test_saved_program_answers_alike_in_a_new_process(case, tmp_path):
    program, _ = case
    for _, predictor in program.named_predictors():
        predictor.signature = predictor.signature.with_instructions(f"Tuned: {predictor.signature.instructions} é团")
        values = dict.fromkeys(predictor.signature.fields, "x")
        predictor.demos = [dspy.Example(**values)]
    program.save(tmp_path / "p", meta={"lm": "scripted", "scores": {"em": 0.5}})
    script = (
        "import sys, json\n"
        "from aspectrag.programs.registry import METHODS\n"
        "class R:\n"
        "    def search(self, queries, k): return [[] for _ in queries]\n"
        "    def __deepcopy__(self, memo): return self\n"
        "name, folder = sys.argv[1:]\n"
        "print(json.dumps(METHODS[name].load(folder, R()).dump_state()))\n"
    )
    name = next(name for name, cls in METHODS.items() if cls is type(program))
    done = subprocess.run(
        [sys.executable, "-c", script, name, str(tmp_path / "p")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(program.dump_state()))
    files = sorted(p.name for p in (tmp_path / "p").iterdir())
    assert files == ["config.json", "manifest.json", "state.json"]


@pytest.mark.parametrize("form", ["folder", "state.json", "pickled"])
def test_no_secret_that_a_demo_or_an_instruction_repeats_is_saved(case, form, tmp_path, monkeypatch):
    secret = "of-the-environment-1234"
    monkeypatch.setenv("SOME_API_KEY", secret)
    program, _ = case
    for _, predictor in program.named_predictors():
        predictor.signature = predictor.signature.with_instructions(f"Say {secret} each time.")
        predictor.demos = [
            dspy.Example(**dict.fromkeys(predictor.signature.fields, f"it is {secret}")),
            {"a": [secret]},
        ]
    before = program.dump_state()
    meta = {"meta": {"scores": secret}} if form == "folder" else {}
    program.save(tmp_path / form, save_program=form == "pickled", **meta)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not [file.name for file in files if secret.encode() in file.read_bytes()]
    assert program.dump_state() == before, "what is saved was changed in the program too"
    if form == "folder":
        loaded = type(program).load(tmp_path / form, ListRetriever())
        assert loaded.config == program.config
        for _, predictor in loaded.named_predictors():
            assert predictor.signature.instructions == "Say *** each time."
            assert set(predictor.demos[0].values()) == {"it is ***"}


def test_data_that_looks_like_a_key_is_saved_as_it_is(tmp_path):
    program: Any = METHODS["han"](None, ListRetriever())
    demo = {"question": "What is hf_squad_00012?", "route": "complex", "token": "Basic Instinct"}
    program.route.demos = [dspy.Example(**demo)]
    program.save(tmp_path / "p")
    loaded: Any = METHODS["han"].load(tmp_path / "p", ListRetriever())
    assert loaded.route.demos == [demo]


def test_no_key_is_saved(case, tmp_path):
    program, _ = case
    program.save(tmp_path / "p", meta={"lm": {"api_key": "sk-abc123def456ghi789"}})
    assert "abc123" not in "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "p").iterdir())


@pytest.mark.parametrize("state", ["{}", "[]", "null", '{"answer": 5}'])
def test_a_damaged_state_is_refused_in_a_line(case, tmp_path, state):
    program, _ = case
    program.save(tmp_path / "p")
    (tmp_path / "p" / "state.json").write_text(state)
    with pytest.raises(AspectragError, match="damaged"):
        type(program).load(tmp_path / "p", ListRetriever())


def test_a_folder_that_does_not_fit_is_refused_with_both_sides(case, tmp_path):
    program, _ = case
    program.save(tmp_path / "p")
    manifest = json.loads((tmp_path / "p" / "manifest.json").read_text())
    predictor = next(iter(manifest["predictors"]))
    for change, words in (
        ({"class": "Other"}, "'Other'"),
        ({"format": 99}, "99"),
        ({"predictors": {**manifest["predictors"], predictor: {"inputs": ["foo"], "outputs": []}}}, "foo"),
    ):
        (tmp_path / "p" / "manifest.json").write_text(json.dumps({**manifest, **change}))
        with pytest.raises(AspectragError, match=words):
            type(program).load(tmp_path / "p", ListRetriever())
    with pytest.raises(AspectragError, match="no saved program"):
        type(program).load(tmp_path / "nowhere", ListRetriever())


def test_dspys_optimizers_compile_it_and_the_result_loads(case, tmp_path):
    program, reply = case
    trainset = [dspy.Example(question=f"{QUESTION} {n}").with_inputs("question") for n in range(2)]
    with dspy.context(lm=scripted_lm(reply)):
        metric = lambda example, pred, trace=None: bool(pred.answer)  # noqa: E731
        optimizer = dspy.BootstrapFewShot(metric=metric, max_bootstrapped_demos=1, max_labeled_demos=0)
        compiled = optimizer.compile(program, trainset=trainset)
        assert any(predictor.demos for predictor in compiled.predictors())
        assert compiled.retriever is program.retriever
        compiled.save(tmp_path / "p")
        loaded = type(program).load(tmp_path / "p", program.retriever)
        assert loaded(question="again?").toDict() == compiled(question="again?").toDict()
    compiled.save(str(tmp_path / "state.json"))  # what DSPy's optimizers write into their log folders
    assert (tmp_path / "state.json").is_file()


def test_copies_share_the_retriever(case):
    program, _ = case
    assert copy.deepcopy(program).retriever is program.retriever
    assert program.reset_copy().retriever is program.retriever


def test_sync_equals_async(case):
    program, reply = case

    async def gather():
        return await asyncio.gather(*(program.acall(question=QUESTION) for _ in range(3)))

    with dspy.context(lm=scripted_lm(reply)):
        expected = program(question=QUESTION)
    with dspy.context(lm=scripted_lm(reply)):
        results = asyncio.run(gather())
    assert all(out.toDict() == expected.toDict() for out in results)
    assert results[0].usage["lm_calls"] + results[0].usage["cached_calls"] == expected.usage["lm_calls"]


def shape(step):
    return (step.kind, step.name, [shape(child) for child in step.children])


def test_trace_is_complete_and_the_same_under_threads(case):
    program, reply = case
    # Later branches finish first: nothing may depend on it.
    slow = {"n": 0}

    def uneven(call):
        slow["n"] += 1
        time.sleep(0.02 / slow["n"])
        return reply(call)

    lm = scripted_lm(uneven)
    with dspy.context(lm=lm, trace=[]):
        out = program(question=QUESTION)
        order = [inputs for _, inputs, _ in dspy.settings.trace]
    assert out.usage["lm_calls"] == len(lm.engine.calls) == len(order)
    assert out.usage["prompt_tokens"] > 0
    (top,) = out.trace.steps
    with dspy.context(lm=scripted_lm(reply), trace=[]):
        again = program(question=QUESTION)
        assert [inputs for _, inputs, _ in dspy.settings.trace] == order
    strip = str(shape(top)).replace(lm.model, "lm")
    assert str(shape(again.trace.steps[0])).replace(again.trace.usage_by_model().popitem()[0], "lm") == strip

    with dspy.context(lm=scripted_lm(reply)):
        both = dspy.Parallel(num_threads=2, disable_progress_bar=True)([(program, {"question": QUESTION})] * 2)
    assert all(out.toDict() == again.toDict() for out in both)
    assert all(shape(out.trace.steps[0])[:2] == shape(top)[:2] for out in both)


def test_inside_a_wider_recording_each_result_has_its_own_part(case):
    from aspectrag.programs.trace import record

    program, reply = case
    with dspy.context(lm=scripted_lm(reply)), record() as trace:
        first = program(question=QUESTION)
        second = program(question=QUESTION + " Really?")
    calls = [out.usage["lm_calls"] + out.usage["cached_calls"] for out in (first, second)]
    assert calls[0] == calls[1]
    assert len(trace.steps) == 2
    assert first.trace.steps == trace.steps[:1]


def test_trace_survives_an_exception(case):
    from aspectrag.programs.trace import record

    program, reply = case

    def fails(call):
        return RuntimeError("the model fell over") if {"answer", "sentences"} & set(call.fields) else reply(call)

    with dspy.context(lm=scripted_lm(fails)), record() as trace, pytest.raises(dspy.LMError):
        program(question=QUESTION)
    failed = [step for step in trace.walk() if step.error]
    assert failed[0].kind == "program"
    assert any(step.kind == "lm" and "fell over" in (step.error or "") for step in failed)
    json.dumps(trace.to_dict())


def test_context_lm_reaches_every_stage_and_roles_replace_single_ones(case):
    program, reply = case
    outer, inner = scripted_lm(lambda call: RuntimeError("wrong model")), scripted_lm(reply)
    with dspy.context(lm=outer), dspy.context(lm=inner):
        out = program(question=QUESTION)
    assert not outer.engine.calls
    assert out.usage["lm_calls"] == len(inner.engine.calls)
    stage = next(step.name for step in out.trace.walk() if step.kind == "module")
    main, special = scripted_lm(reply), scripted_lm(reply)
    with dspy.context(lm=main, roles={stage: special}):
        program(question=QUESTION)
    used = [step for step in out.trace.walk() if step.kind == "module" and step.name == stage]
    assert len(special.engine.calls) == len(used)
    assert len(main.engine.calls) == out.usage["lm_calls"] - len(used)


def test_a_model_that_says_nothing_or_nonsense_never_crashes_a_program(case):
    program, _ = case
    for said in ("", "???", "{}", "[[ ## answer ## ]]", '{"answer": null}', "<html>503</html>", "\ud83d"):
        with dspy.context(lm=scripted_lm(lambda call, said=said: said)):
            out = program(question=QUESTION)
        assert out.fallbacks, said


@pytest.mark.parametrize("question", ["", "   ", "\n\t", None, 7])
def test_blank_questions_are_refused(case, question):
    program, reply = case
    with dspy.context(lm=scripted_lm(reply)), pytest.raises(AspectragError, match="empty"):
        program(question=question)


def test_a_question_longer_than_the_model_reads_is_refused(case):
    program, reply = case
    lm = scripted_lm(reply)
    lm.context_window = 4096
    with dspy.context(lm=lm), pytest.raises(AspectragError, match="the model takes 2048"):
        program(question="why " * 12_500)
    assert not lm.engine.calls


def test_usage_reaches_dspys_own_accounting(case):
    program, reply = case
    with dspy.context(lm=scripted_lm(reply)), dspy.track_usage() as tracker:
        out = program(question=QUESTION)
    (tokens,) = tracker.get_total_tokens().values()
    assert tokens["prompt_tokens"] == out.usage["prompt_tokens"]
    with dspy.context(lm=scripted_lm(reply), track_usage=True):
        out = program(question=QUESTION)
    (tokens,) = out.get_lm_usage().values()
    assert tokens["completion_tokens"] == out.usage["completion_tokens"]


def test_a_retriever_is_asked_for_where_one_is_needed():
    for cls in METHODS.values():
        if cls.retrieves:
            with pytest.raises(AspectragError, match="needs a retriever"):
                cls()


def test_what_a_stage_refused_is_no_demo(case):
    """Optimizers take what is in DSPy's trace for a good example."""
    program, reply = case
    refused = set()
    fields = {"answer", "seed_question", "thought", "sub_questions", "queries", "aspects", "ranking", "sentences"}

    def late(call):
        # Each stage first says something that parses and is of no use, then what is right.
        key = (call.fields, str(sorted(call.inputs.items())))
        if fields & set(call.fields) and key not in refused:
            refused.add(key)
            values = reply(call)
            return {name: [] if isinstance(v, list) else "" if isinstance(v, str) else v for name, v in values.items()}
        return reply(call)

    with dspy.context(lm=scripted_lm(late), trace=[]):
        out = program(question=QUESTION)
        kept = dspy.settings.trace
    assert refused
    assert out.answer
    for _, _, outputs in kept:
        assert any(value not in ("", []) for name, value in outputs.items() if name != "citations"), outputs
