"""``aspectrag eval`` and ``compare``: tables, resuming, what is refused, and servers at their worst."""

import json
import re
import threading
import time

import pytest
import torch
from aspectrag.app import evaluate
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.evaluation import runner
from aspectrag.optimizers.evaluation.run import Run
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from aspectrag.programs.rankers import pointer
from aspectrag.programs.rankers.network import PointerNetwork
from aspectrag.programs.rankers.pointer import PointerRanker
from faceted import WordEncoder
from fakes import ListRetriever, by_fields
from servers import chat
from werkzeug import Response

KEY = "sk-test-abcdefghij0123456789"


@pytest.fixture
def lm(monkeypatch):
    """Every model is this one."""
    model = scripted_lm(by_fields(type="FACTOID"))
    monkeypatch.setattr(evaluate, "load", lambda *args, **kwargs: model)
    return model


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cells(out, first):
    line = next(line for line in out.splitlines() if line.startswith(first))
    return re.split(r"\s{2,}", line.strip())[1:]


def demo(*options):
    return "--benchmark", "demo", "--limit", 6, "--kind", "bm25", *options


def test_several_methods_over_one_benchmark_make_one_table_and_resume(run, here, lm):
    code, out, err = run("eval", "rag", "typed", *demo())
    assert code == 0, err
    assert cells(out, "questions") == ["6 of 6", "6 of 6"]
    assert all(re.fullmatch(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", cell) for cell in cells(out, "f1"))
    assert cells(out, "lm_calls") == ["1.000 [1.000, 1.000]", "2.000 [2.000, 2.000]"]
    assert cells(out, "cost") == ["unknown", "unknown"]  # this model has no price: that is not 0
    assert "runs/demo: rag, typed" in out
    calls = len(lm.engine.calls)
    assert calls == 18
    code, again, _ = run("eval", "rag", "typed", *demo())
    assert (code, len(lm.engine.calls)) == (0, calls)
    assert again == out
    # More methods may join the folder, and more may be measured, without a question asked again.
    code, more, err = run("eval", "rag", "direct", *demo("--metric", "em", "--metric", "rouge1"))
    assert code == 0, err
    assert len(lm.engine.calls) == calls + 6
    assert cells(more, "rouge1")


def test_runs_are_compared_question_by_question(run, here, lm):
    run("eval", "rag", "direct", *demo())
    code, out, err = run("compare", "runs/demo", "--metric", "f2")
    assert (code, out) == (1, "")
    assert err.startswith("aspectrag: the runs do not all have f2 (they share: em, f1, acc")
    code, out, err = run("compare", "runs/demo", "--metric", "prompt_tokens")
    assert code == 0, err
    # In the order of their names: direct is the base.
    assert re.search(r"prompt_tokens +6 .*\+", out)
    code, out, err = run("compare", "runs/demo/rag", "runs/demo/direct", "--metric", "prompt_tokens", "--by", "type")
    assert code == 0, err
    assert "FACTOID" in out
    assert run("compare", "runs/demo", "--by", "colour")[2].startswith("aspectrag: the runs have no category 'colour'")


def test_a_saved_program_is_asked_beside_the_methods(run, here, lm):
    Rag(AnswerConfig(k=1), ListRetriever()).save(here / "mine")
    code, out, err = run("eval", "rag", "--program", here / "mine", *demo())
    assert code == 0, err
    assert json.loads((here / "runs/demo/mine/predictions.jsonl").read_text().splitlines()[0])["passages"][1:] == []
    assert out.splitlines()[0].split()[1:] == ["rag", "mine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval"], "say what is evaluated: a method"),
        (["eval", "rga"], "there is no method 'rga': did you mean 'rag'?"),
        (["eval", "rag", "--benchmark", "hotpot"], "did you mean 'hotpotqa'?"),
        (["eval", "rag", "--split", "test"], "there is no split 'test'"),
        (["eval", "rag", "--metric", "f2"], "there is no metric 'f2'"),
        (["eval", "rag", "--questions", "nowhere.jsonl"], "nowhere.jsonl"),
        (["eval", "rag", "--program", "nowhere"], "nowhere holds no saved program"),
        (["eval", "rag", "--program", "."], "holds no saved program"),
        (["eval", "rag", "--index", "a", "--corpus", "b"], "--index and --corpus exclude each other"),
        (["compare", "nowhere"], "nowhere holds no run"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_in_one_line(run, here, lm, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (here / "runs").exists()


def test_all_methods_write_answers_as_long_as_the_metrics_need(run, here, lm):
    line = {"id": "1", "question": "Where is it?", "answers": ["Here"]}
    (here / "dev.jsonl").write_text(json.dumps(line) + "\n")
    (here / "corpus.jsonl").write_text(json.dumps({"id": "p", "title": "It", "text": "It is here."}) + "\n")
    given = ("--questions", here / "dev.jsonl", "--corpus", here / "corpus.jsonl", "--kind", "bm25")
    for benchmark, answers in (("squad", "brief"), ("asqa", "full")):
        code, _, err = run("eval", "rag", "han", "--benchmark", benchmark, *given)
        assert code == 0, err
        for method in ("rag", "han"):
            assert f"answers: {answers}" in (here / "runs" / benchmark / method / "config.yaml").read_text()


def test_another_run_in_the_folder_is_refused(run, here, lm):
    run("eval", "rag", *demo())
    code, _, err = run("eval", "rag", *demo("--k", 2))
    assert code == 1
    assert re.search(r"holds a run with another config .*give another --out", err)
    code, _, err = run("eval", "rag", "--benchmark", "demo", "--limit", 7, "--kind", "bm25")
    assert code == 1
    assert "holds a run with another" in err


def test_where_no_question_could_be_answered_the_command_fails(run, here, monkeypatch):
    monkeypatch.setattr(evaluate, "load", lambda *_, **__: scripted_lm(lambda call: RuntimeError("it fell over")))
    monkeypatch.setattr(runner, "_PATIENCE", 99)
    code, out, err = run("eval", "rag", *demo())
    assert code == 1
    assert cells(out, "questions") == ["0 of 6"]
    assert err.count("it fell over") == 5
    assert "and 1 more: see metrics.json" in err
    assert err.splitlines()[-1] == "aspectrag: no question was answered: see the errors above"


@pytest.fixture
def server(httpserver, monkeypatch):
    """A server that answers every question, after it has done its worst to each of the first requests."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(runner, "_PAUSES", (0.01, 0.01))
    troubles, seen, lock = [], [], threading.Lock()

    def handle(request):
        with lock:
            trouble = troubles.pop(0) if troubles else None
            seen.append(trouble)
        if trouble == "429":
            return Response("slow down", 429, headers={"Retry-After": "0"})
        if trouble == "html":
            return Response("<html><h1>502 Bad Gateway</h1></html>", 502, content_type="text/html")
        if trouble == "page":  # a portal that answers for the server
            return Response("<html>Please log in</html>", 200, content_type="text/html")
        if trouble == "reset":
            request.environ["werkzeug.socket"].close()
            return Response("")
        if trouble == "slow":
            time.sleep(3)
        text = "[[ ## answer ## ]]\nIt is so [1].\n\n[[ ## citations ## ]]\n[1]\n\n[[ ## completed ## ]]"
        return Response(json.dumps(chat(text)), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(handle)
    return troubles, seen, ["--lm", "openai/tiny", "--api-base", httpserver.url_for("/v1")]


def test_servers_at_their_worst_are_waited_for_and_never_answer(run, here, server, monkeypatch):
    troubles, seen, lm = server
    monkeypatch.setenv("ASPECTRAG_TIMEOUT", "1")
    troubles += ["429", "429", "html", "429", "reset", "slow", "page", "429"]
    code, out, err = run("eval", "rag", *demo("--workers", 3), *lm)
    assert code == 0, err
    assert {"429", "html", "reset", "slow", "page"} <= set(seen)
    answers = [json.loads(line) for line in (here / "runs/demo/rag/predictions.jsonl").read_text().splitlines()]
    last = {record["id"]: record for record in answers}
    assert all(record["answer"] in (None, "It is so [1].") for record in answers)
    assert [record["answer"] for record in last.values()] == ["It is so [1]."] * 6
    assert cells(out, "questions") == ["6 of 6"]


def test_no_key_is_in_any_file_of_a_run(run, here, server):
    troubles, _, lm = server
    troubles += ["429", "html"]
    code, out, err = run("eval", "rag", "typed", *demo(), *lm)
    assert code == 0, err
    files = [file for file in (here / "runs").rglob("*") if file.is_file()]
    assert len(files) > 20
    for file in files:
        assert KEY.encode() not in file.read_bytes(), file
    assert KEY not in out + err


def test_tables_are_written_as_json(run, here, lm):
    code, _, err = run("eval", "rag", "typed", *demo("--json", here / "eval.json"))
    assert code == 0, err
    seen = json.loads((here / "eval.json").read_text())
    assert [each["answered"] for each in seen["runs"]] == [6, 6]
    assert set(seen["runs"][0]["metrics"]["f1"]) == {"mean", "low", "high", "n"}
    assert {row["category"] for row in seen["runs"][0]["by_category"]} >= {"type"}
    code, out, err = run("compare", here / "runs" / "demo", "--json", here / "compare.json")
    assert code == 0, err
    assert any(line.startswith("cost") and line.count("unknown") == 2 for line in out.splitlines())
    compared = json.loads((here / "compare.json").read_text())
    assert compared["rows"] == seen["comparison"]["rows"]
    assert set(compared["rows"][0]["differences"][1]) == {"mean", "low", "high", "n", "p"}
    code, _, err = run("compare", here / "runs" / "demo", "--json", here)
    assert (code, "is a folder" in err) == (1, True)


def test_a_trained_ranker_is_evaluated_and_another_one_does_not_go_on_with_its_run(run, here, lm, monkeypatch):
    for seed, name in enumerate(("one", "two")):
        torch.manual_seed(seed)
        network = PointerNetwork(32, 16, 2, 1)
        PointerRanker(network, WordEncoder()).save(here / name)
    monkeypatch.setattr(pointer, "_encoder", lambda folder, identity: WordEncoder())
    code, _, err = run("eval", "rich", *demo("--ranker", here / "one", "--limit", 2))
    assert code == 0, err
    assert "weights" in Run(here / "runs" / "demo" / "rich").config["ranker"]
    code, _, err = run("eval", "rich", *demo("--ranker", here / "two", "--limit", 2))
    assert (code, "another ranker" in err) == (1, True)
    code, _, err = run("eval", "rag", *demo("--ranker", here / "one"))
    assert (code, "--ranker is for the method rich" in err) == (1, True)
