"""Traces, runs and compiled programs as MLflow has them, read back from its store."""

import asyncio
import json
import warnings
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from pathlib import Path

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.compiling import compile_program
from aspectrag.optimizers.evaluation.run import Run
from aspectrag.optimizers.tracking import connect
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.han_rag import HanRag
from aspectrag.programs.trace import record
from aspectrag.programs.typed_rag import TypedRag
from evaluation import failing
from fakes import ListRetriever, by_fields
from learning import LABEL, examples, model, program
from mlflow_stores import runs, traces, tree
from reports import scored_run

KEY = "sk-test-abcdefghij0123456789"


def ours(trace):
    """The same of our own trace; side by side, the order is by when each began."""

    def walk(steps, depth):
        for step in sorted(steps, key=lambda step: int(step.started * 1e9)):
            yield depth, step.name, step.kind
            yield from walk(step.children, depth + 1)

    return list(walk(trace.steps, 0))


def test_a_trace_becomes_spans_with_its_own_times_tokens_and_cache_hits(uri):
    lm = scripted_lm(by_fields(type="EVIDENCE-BASED"), latency=0.02)
    with dspy.context(lm=lm):
        first = TypedRag(None, ListRetriever())(question="Why was the Curzon Line drawn?")
        second = TypedRag(None, ListRetriever())(question="Why was the Curzon Line drawn?")
    tracker = connect(uri)
    tracker.trace(first)
    tracker.trace(second.trace)
    one, two = traces(uri)
    assert tree(one) == ours(first.trace)
    assert len(one.data.spans) == len(list(first.trace.walk())) > 5
    root = one.data.spans[0]
    assert (root.parent_id, root.name, root.span_type) == (None, "TypedRag", "CHAIN")
    assert root.inputs == {"question": "Why was the Curzon Line drawn?"}
    assert root.outputs["answer"] == first.answer
    [step] = first.trace.steps
    assert abs(root.start_time_ns - step.started * 1e9) < 1e6
    assert abs(root.end_time_ns - root.start_time_ns - step.seconds * 1e9) < 1e6
    calls = [span for span in one.data.spans if span.span_type == "CHAT_MODEL"]
    assert all(span.end_time_ns - span.start_time_ns >= 15e6 for span in calls)
    usage = one.info.token_usage
    spent = first.usage
    assert (usage["input_tokens"], usage["output_tokens"]) == (spent["prompt_tokens"], spent["completion_tokens"])
    assert [span.attributes["aspectrag.cached"] for span in calls] == [False] * spent["lm_calls"]
    again = [span for span in two.data.spans if span.span_type == "CHAT_MODEL"]
    assert again
    assert all(span.attributes["aspectrag.cached"] for span in again)
    assert not two.info.token_usage
    [found] = [span for span in one.data.spans if span.span_type == "RETRIEVER"][:1]
    assert found.outputs


def test_errors_are_told_and_secrets_are_not(uri, monkeypatch):
    monkeypatch.setenv("SERVICE_API_KEY", "a-secret-of-the-environment")
    lm = scripted_lm(lambda call: RuntimeError(f"refused {KEY}, a-secret-of-the-environment"))
    with dspy.context(lm=lm), record() as trace, pytest.raises(Exception, match="refused"):
        Rag(None, ListRetriever())(question=f"What about coal, {KEY} and a-secret-of-the-environment?")
    connect(uri).trace(trace)
    [found] = traces(uri)
    assert found.info.state.value == "ERROR"
    [call] = [span for span in found.data.spans if span.span_type == "CHAT_MODEL"]
    assert call.status.status_code.value == "ERROR"
    assert "refused ***, ***" in call.status.description
    everything = found.to_json() + Path("mlflow.db").read_bytes().decode("utf-8", "replace")
    assert KEY not in everything
    assert "a-secret-of-the-environment" not in everything


def test_threads_awaiting_and_parallel_calls_are_each_one_trace(uri):
    rag = Rag(None, ListRetriever())
    asked = [f"What about coal, number {n}?" for n in range(9)]

    async def awaited():
        return await asyncio.gather(*(rag.acall(question=each) for each in asked[:3]))

    with dspy.context(lm=scripted_lm(by_fields())), connect(uri).recording():
        asyncio.run(awaited())
        dspy.Parallel(num_threads=3, disable_progress_bar=True)([(rag, {"question": each}) for each in asked[3:6]])
        with ThreadPoolExecutor(3) as pool:
            wait([pool.submit(copy_context().run, rag, question=each) for each in asked[6:8]])
        rag(question=asked[8])
    found = traces(uri)
    assert sorted(trace.data.spans[0].inputs["question"] for trace in found) == asked
    assert len({tuple(tree(trace)) for trace in found}) == 1


def test_a_store_that_fails_in_the_middle_costs_a_warning(uri):
    tracker = connect(uri)
    with dspy.context(lm=scripted_lm(by_fields())), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        with tracker.recording():
            result = Rag(None, ListRetriever())(question="What about coal?")
            Path("mlflow.db").write_bytes(b"this is no database " * 5000)
    told = [str(each.message) for each in said]
    assert [each for each in told if each.startswith("MLflow does not take it")] == told[-1:]
    assert result.answer
    with pytest.raises(AspectragError, match="MLflow does not take it"):
        tracker.trace(result)


def test_a_run_has_its_config_means_files_and_traces_and_is_written_once(uri, tmp_path):
    run = scored_run(tmp_path / "out", reply=failing(4))
    (tmp_path / "report.html").write_text("<p>")
    tracker = connect(uri)
    for _ in range(2):
        tracker.run(run, [tmp_path / "report.html"], progress=False)
    [found] = runs(uri)
    assert (found.info.run_name, found.info.status) == ("out/rag", "FINISHED")
    assert found.data.params["benchmark"] == "topics"
    assert found.data.params["lm.model"] == "scripted"
    em = run.metrics["metrics"]["em"]
    told = found.data.metrics
    assert (told["em"], told["em.low"], told["em.high"]) == (em["mean"], em["low"], em["high"])
    assert (told["answered"], told["failed"]) == (8, 1)
    files = {path.name for path in Path(found.info.artifact_uri.removeprefix("file://")).iterdir()}
    assert files >= {"config.yaml", "predictions.jsonl", "metrics.json", "by_category.csv", "run.trec", "report.html"}
    written = traces(uri)
    assert {trace.info.tags["aspectrag.question"] for trace in written} == {f"q{n}" for n in range(9)}
    assert len(written) == 9
    assert {trace.info.trace_metadata["mlflow.sourceRun"] for trace in written} == {found.info.run_id}
    assert [trace.info.tags["aspectrag.question"] for trace in written if trace.info.state.value == "ERROR"] == ["q4"]


def test_a_run_that_is_not_scored_is_refused(uri, tmp_path):
    run = scored_run(tmp_path / "out")
    (run.path / "metrics.json").unlink()
    with pytest.raises(AspectragError, match=r"metrics\.json cannot be read"):
        connect(uri).run(Run(run.path), progress=False)


def test_a_compiled_program_has_its_folder_and_scores(uri):
    lm = model()
    done = compile_program(
        program(), examples(), LABEL, "compiled", method="han", stage="route", by="bootstrap", lm=lm, progress=False
    )
    connect(uri).compiled("compiled")
    [found] = runs(uri)
    assert found.info.run_name == "compile han.route"
    assert found.data.params["optimizer"] == "bootstrap"
    assert found.data.params["kept"] == "compiled"
    told, report = found.data.metrics, done.report
    assert (told["uncompiled"], told["compiled"]) == (report.uncompiled.score.mean, report.compiled.score.mean)
    assert (told["difference.low"], told["difference.p"]) == (report.difference.low, report.difference.p)
    folder = Path(found.info.artifact_uri.removeprefix("file://")) / "program"
    assert json.loads((folder / "report.json").read_text())["kept"] == "compiled"
    loaded = HanRag.load(folder, ListRetriever())
    assert len(loaded.route.demos) == report.stages["route"].demos > 0


def test_autolog_of_the_users_works_with_our_programs(uri):
    import mlflow
    from mlflow.dspy import autolog

    connect(uri)
    autolog()
    try:
        with dspy.context(lm=scripted_lm(by_fields(type="EVIDENCE-BASED"))):
            result = TypedRag(None, ListRetriever())(question="Why was the Curzon Line drawn?")
            asyncio.run(Rag(None, ListRetriever()).acall(question="What about coal?"))
        mlflow.flush_trace_async_logging()
    finally:
        autolog(disable=True)
    assert result.answer
    assert len(result.trace.steps) == 1
    typed, rag = traces(uri)
    assert typed.data.spans[0].name == "TypedRag.forward"
    calls = [span for span in typed.data.spans if span.span_type == "CHAT_MODEL"]
    assert len(calls) == result.usage["lm_calls"]
    # Those of parts that are answered side by side hang in the same tree.
    assert {span.parent_id for span in calls} <= {span.span_id for span in typed.data.spans}
    assert rag.data.spans[0].outputs["answer"]
