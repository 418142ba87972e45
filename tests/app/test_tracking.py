"""``--mlflow`` of ``ask``, ``eval`` and ``compile``: what arrives, and that nothing is lost where it does not."""

import json
from pathlib import Path

import pytest
from aspectrag.app import ask, evaluate
from aspectrag.app import compile as command
from aspectrag.lms import scripted_lm
from fakes import by_fields
from learning import calls_of, model, routed
from mlflow_stores import missing, runs, store, traces

GONE = "http://127.0.0.1:9"


@pytest.fixture
def uri(tmp_path, monkeypatch):
    if reason := missing():
        pytest.skip(reason)
    monkeypatch.chdir(tmp_path)
    with store(tmp_path) as address:
        yield address


@pytest.fixture
def lm(monkeypatch):
    """The model of all three commands."""
    model = scripted_lm(by_fields(type="FACTOID"))
    for module in (ask, evaluate):
        monkeypatch.setattr(module, "load", lambda *_, **__: model)
    return model


@pytest.fixture
def examples(tmp_path, monkeypatch):
    own = model()
    monkeypatch.setattr(command, "load", lambda *_, **__: own)
    for name, count, start in (("train", 12, 0), ("val", 8, 100), ("test", 8, 200)):
        lines = [json.dumps(example.toDict()) for example in routed(count, start)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    own_files = ("--train", "train.jsonl", "--val", "val.jsonl", "--test", "test.jsonl", "--yes")
    return own, ("compile", "han.route", *own_files, "--optimizer", "bootstrap")


def asked(docs, *options):
    (docs / "wind.txt").write_text("Wind turbines turn moving air into electricity.")
    return "ask", "wind power?", "--docs", docs / "wind.txt", "--kind", "bm25", "--method", "rag", "--json", *options


def test_ask_writes_its_trace_and_prints_what_it_always_prints(run, uri, lm, tmp_path):
    code, out, err = run(*asked(tmp_path, "--mlflow", uri))
    assert code == 0, err
    assert json.loads(out)["answer"]
    [trace] = traces(uri)
    assert trace.data.spans[0].name == "Rag"


def test_a_question_that_fails_leaves_its_trace(run, uri, tmp_path, monkeypatch):
    broken = scripted_lm(lambda call: RuntimeError("it fell over"))
    monkeypatch.setattr(ask, "load", lambda *_, **__: broken)
    code, _, err = run(*asked(tmp_path, "--mlflow", uri))
    assert code == 1
    assert "it fell over" in err
    assert [trace.info.state.value for trace in traces(uri)] == ["ERROR"]


def test_eval_writes_a_run_for_each_method_with_a_page_and_once_only(run, uri, lm):
    given = ("eval", "rag", "direct", "--benchmark", "demo", "--limit", 2, "--kind", "bm25", "--mlflow", uri)
    for _ in range(2):
        code, out, err = run(*given)
        assert code == 0, err
        assert "questions" in out
    found = {each.info.run_name: each for each in runs(uri)}
    assert sorted(found) == ["demo/direct", "demo/rag"]
    assert len(runs(uri)) == 2
    assert found["demo/rag"].data.metrics["lm_calls.low"] == 1
    folder = Path(found["demo/rag"].info.artifact_uri.removeprefix("file://"))
    assert "<html" in (folder / "report.html").read_text()
    assert len(traces(uri)) == 4


def test_compile_writes_the_program(run, uri, examples):
    _, arguments = examples
    code, _, err = run(*arguments, "--mlflow", uri)
    assert code == 0, err
    assert [each.info.run_name for each in runs(uri)] == ["compile han.route"]


def test_a_server_that_is_not_there_is_told_before_anything_is_done(run, uri, lm, examples, tmp_path):
    own, compiling = examples
    evaluating = ("eval", "rag", "--benchmark", "demo", "--limit", 2, "--kind", "bm25")
    for arguments in (asked(tmp_path), evaluating, compiling):
        code, out, err = run(*arguments, "--mlflow", GONE)
        assert (code, out) == (1, "")
        assert err.splitlines()[-1].startswith(f"aspectrag: MLflow does not take it at {GONE} ")
    assert len(lm.engine.calls) == calls_of(own) == 0
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "compiled").exists()


def test_a_store_that_fails_while_the_work_is_done_costs_one_line(run, uri, tmp_path, monkeypatch):
    def reply(call):
        (tmp_path / "mlflow.db").write_bytes(b"this is no database " * 5000)
        return by_fields()(call)

    for module in (ask, evaluate):
        monkeypatch.setattr(module, "load", lambda *_, **__: scripted_lm(reply))
    code, out, err = run("eval", "rag", "direct", "-b", "demo", "--limit", 2, "--kind", "bm25", "--mlflow", uri)
    assert code == 0
    assert "2 of 2" in out
    assert err.count("--mlflow") == 1
    assert "! --mlflow: MLflow does not take it" in err
    assert (tmp_path / "runs/demo/rag/metrics.json").is_file()
