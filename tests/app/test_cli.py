"""What a user meets at the command line: answers, and one clear line where there is none."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from aspectrag.app import ask
from aspectrag.lms import scripted_lm
from aspectrag.programs import rich_rag
from aspectrag.programs.rankers.ranker import RetrievalOrder
from aspectrag.programs.registry import METHODS
from fakes import by_fields
from pypdf import PdfWriter
from servers import chat
from werkzeug import Response

KEY = "sk-test-abcdefghij0123456789"
TEXTS = {
    "coal.txt": "Coal is a black rock. It is burned in power stations and warms the climate.",
    "wind.md": "# Wind power\n\nWind turbines turn moving air into electricity. They need space and wind.",
}


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def server(httpserver, monkeypatch):
    """An OpenAI-compatible server whose every answer is the same."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def serve(text="[[ ## answer ## ]]\nWind needs space [1].\n\n[[ ## completed ## ]]", **response):
        handler = httpserver.expect_request("/v1/chat/completions", method="POST")
        if response:
            handler.respond_with_data(**response)
        else:
            handler.respond_with_json(chat(text))
        return ["--lm", "openai/tiny", "--api-base", httpserver.url_for("/v1")]

    return serve


def one_line(err):
    lines = [line for line in err.splitlines() if line.strip()]
    assert len(lines) == 1, err
    assert lines[0].startswith("aspectrag: ")
    assert "Traceback" not in err
    return lines[0]


def test_an_answer_with_its_sources_and_steps(run, docs, server):
    code, out, err = run("ask", "wind power?", "--docs", docs, "--kind", "bm25", "--method", "rag", *server())
    assert (code, err) == (0, "")
    assert out.startswith("Wind needs space [1].")
    assert "wind.md" in out
    assert "1 model calls, 10 + 5 tokens" in out


def test_json_has_all_fields_and_the_trace_goes_to_its_file(run, docs, server, tmp_path):
    trace = tmp_path / "trace.json"
    code, out, err = run(
        "ask", "wind power?", "--docs", docs, "--kind", "bm25", "--method", "rag", "--json", "--trace", trace, *server()
    )
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert set(record) == {
        "answer", "route", "sub_questions", "passages", "citations", "steps", "stopped_by", "fallbacks", "usage",
        "seconds",
    }  # fmt: skip
    assert record["usage"] == {"lm_calls": 1, "prompt_tokens": 10, "completion_tokens": 5, "cached_calls": 0}
    assert record["citations"][0]["passage_id"] == record["passages"][0]["id"]
    assert json.loads(trace.read_text(encoding="utf-8"))["usage"] == record["usage"]
    assert KEY not in out + trace.read_text(encoding="utf-8")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(run, docs, monkeypatch, method):
    monkeypatch.setattr(ask, "load", lambda *args, **kwargs: scripted_lm(by_fields()))
    monkeypatch.setattr(rich_rag, "shipped", RetrievalOrder)  # the trained ranker needs the weights of its encoder
    code, out, err = run("ask", "Is wind power cheap?", "--docs", docs, "--kind", "bm25", "--method", method, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["answer"].startswith("About Is wind power cheap?")
    assert record["steps"] == (0 if method == "direct" else 2 if method == "ircot" else 1)
    code, out, err = run("ask", "Is wind power cheap?", "--docs", docs, "--kind", "bm25", "--method", method)
    assert (code, err) == (0, "")
    assert out.startswith("About Is wind power cheap?")
    assert "Steps" in out


def test_passages_and_length_of_answers_are_the_methods_own_unless_given(run, docs, monkeypatch):
    lm = scripted_lm(by_fields())
    monkeypatch.setattr(ask, "load", lambda *args, **kwargs: lm)
    trace = docs.parent / "trace.json"

    def asked(*options):
        question = f"Is wind power cheap? {options}"  # never from the cache
        assert run("ask", question, "--docs", docs, "--kind", "bm25", "--trace", trace, *options)[0] == 0
        steps = json.loads(trace.read_text(encoding="utf-8"))["steps"][0]["children"]
        found = next(step for step in steps if step["name"] == "retrieve")["inputs"]["k"]
        return found, "in as few words as can be" in lm.engine.calls[-1].prompt

    assert asked("--method", "han") == (10, True)
    assert asked("--method", "han", "--k", "4", "--answers", "full") == (4, False)
    assert asked("--method", "rag") == (5, False)
    assert asked("--method", "rag", "--answers", "brief") == (5, True)
    assert asked("--method", "adaptive", "--k", "2") == (2, True)


@pytest.mark.parametrize("route", ["single-step", "compound", "complex"])
def test_a_hop_does_not_stream_as_if_it_were_the_answer(run, docs, monkeypatch, route):
    monkeypatch.setattr(ask, "load", lambda *args, **kwargs: scripted_lm(by_fields(route=route)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = run("ask", "Is wind power cheap?", "--docs", docs, "--kind", "bm25", "--method", "han")
    assert (code, err) == (0, "")
    answer, rest = out.split("Sources")
    assert answer.count("About ") == 1, out
    assert "Steps" in rest


@pytest.mark.parametrize("kind", ["EVIDENCE-BASED", "REASON"])
def test_in_a_terminal_the_answer_streams_and_appears_once(run, docs, monkeypatch, kind):
    reply = by_fields(type=kind, answer="Wind needs space.", queries=["wind?", "coal?"], citations=[1])
    monkeypatch.setattr(ask, "load", lambda *args, **kwargs: scripted_lm(reply))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = run("ask", "wind power?", "--docs", docs, "--kind", "bm25")
    assert (code, err) == (0, "")
    answer, rest = out.split("Sources")
    assert answer.count("Wind needs space.") == 1, out
    assert "Steps" in rest


def test_documents_are_indexed_once_and_again_when_they_change(run, docs, server, monkeypatch):
    arguments = ["ask", "wind power?", "--docs", docs, "--kind", "bm25", "--method", "rag", "--json", *server()]
    indexes = Path(os.environ["ASPECTRAG_HOME"]) / "indexes"
    assert run(*arguments)[0] == 0
    first = {path: path.stat().st_mtime_ns for path in indexes.iterdir()}
    assert run(*arguments)[0] == 0
    assert {path: path.stat().st_mtime_ns for path in indexes.iterdir()} == first
    (docs / "more.txt").write_text("Wind power grows.", encoding="utf-8")
    assert run(*arguments)[0] == 0
    assert len(list(indexes.iterdir())) > len(first)


def test_index_commands(run, docs, tmp_path):
    index = tmp_path / "index"
    code, out, err = run("index", "build", index, docs, "--kind", "bm25")
    assert code == 0
    assert "2 passages, bm25" in out
    code, out, _ = run("index", "info", index)
    assert json.loads(out)["count"] == 2
    code, out, _ = run("index", "search", index, "wind turbines", "xyzzy", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert found[0]["passages"][0]["title"] == "Wind power"
    assert found[1]["passages"] == []
    assert run("index", "search", index, "wind turbines")[0] == 0
    code, out, _ = run("index", "add", index, docs)
    assert "0 new, 2 already present" in out
    code, out, err = run("index", "build", index, docs, "--kind", "bm25")
    assert code == 1
    assert "overwrite" in one_line(err.splitlines()[-1])


def test_broken_lines_are_named_counted_and_the_rest_is_kept(run, tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": 1, "title": "A", "text": "wind"}\n{broken\n{"id": 2, "text": "coal"}\n', encoding="utf-8")
    code, out, err = run("index", "build", tmp_path / "index", corpus, "--kind", "bm25")
    assert code == 0
    assert "2 passages" in out
    assert "line 2" in err
    assert "1" in err


def encrypted_pdf(path):
    writer = PdfWriter()
    writer.add_blank_page(72, 72)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(path)


def empty_pdf(path):
    writer = PdfWriter()
    writer.add_blank_page(72, 72)
    writer.write(path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (empty_pdf, "text"),
        (encrypted_pdf, "encrypted"),
        (lambda path: path.write_bytes(b"%PDF-1.4 broken"), "pdf"),
        (lambda path: path.write_bytes(b""), "empty"),
        (lambda path: None, "no such file"),
    ],
    ids=["no text", "encrypted", "broken", "empty", "missing"],
)
def test_documents_without_text_are_refused_and_nothing_is_left(run, server, tmp_path, make, words):
    path = tmp_path / "book.pdf"
    make(path)
    code, out, err = run("index", "build", tmp_path / "index", path, "--kind", "bm25")
    assert (code, out) == (1, "")
    assert words in one_line(err)
    assert not (tmp_path / "index").exists()
    code, out, err = run("ask", "why?", "--docs", path, "--kind", "bm25", *server())
    assert (code, out) == (1, "")
    one_line(err)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask", ""], "empty"),
        (["ask", "  \n "], "empty"),
        (["ask", "why?", "--method", "tipped"], "did you mean 'typed'"),
        (["ask", "why?", "--method", "rag", "--lm", "embeded"], "did you mean 'embedded'"),
        (["ask", "why?", "--index", "nowhere"], "nowhere"),
        (["ask", "why?", "--index", "x", "--docs", "y"], "exclude"),
        (["ask", "why?", "--kind", "bm52"], "did you mean 'bm25'"),
        (["ask", "why?", "--method", "direct", "--trace", "no/such/folder/t.json"], "no folder no/such/folder"),
        (["ask", "why?", "--method", "rag", "--answers", "short"], "answers must be full or brief, not 'short'"),
        (["ask", "why?", "--method", "typed", "--answers", "brief"], "typed has no --answers"),
        (["ask", "why?", "--method", "ircot", "--k", "50"], "max_passages 15 leaves no room for k 50"),
        (["index", "info", "nowhere"], "nowhere"),
        (["lm", "pull", "encodr"], "encodr"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_calls_get_one_line(run, server, arguments, words):
    if "--lm" not in arguments and arguments[0] == "ask":
        arguments = [*arguments, *server()]
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert words in one_line(err)


def test_a_foreign_folder_is_no_index(run, docs, server):
    code, _, err = run("ask", "why?", "--index", docs, *server())
    assert code == 1
    assert "index" in one_line(err)


def test_a_very_long_question_is_refused(run, server):
    code, out, err = run("ask", "why " * 12_500, "--method", "direct", *server())
    assert (code, out) == (1, "")
    assert "shorten" in one_line(err)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (
            401,
            json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}),
            "key",
        ),
        (404, json.dumps({"error": {"message": "The model does not exist", "code": "model_not_found"}}), "tiny"),
        (429, json.dumps({"error": {"message": "Rate limit reached"}}), "429"),
        (500, "oops", "failed (oops)"),
        (200, "<html><body>Bad gateway</body></html>", ""),
        (200, "", ""),
    ],
    ids=["wrong key", "unknown model", "rate limit", "server error", "html", "nothing"],
)
@pytest.mark.parametrize("command", ["ask", "check"])
def test_servers_that_fail(run, server, monkeypatch, status, body, words, command):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setenv("ASPECTRAG_NUM_RETRIES", "0")
    to = server(response_data=body, status=status, content_type="text/html" if "<" in body else "application/json")
    code, out, err = run(*(["ask", "why?", "--method", "direct"] if command == "ask" else ["lm", "check"]), *to)
    assert (code, out) == (1, "")
    line = one_line(err)
    assert words in line
    assert KEY not in line


@pytest.mark.parametrize("body", [json.dumps(chat("")), json.dumps({"choices": []})], ids=["empty", "no choices"])
def test_an_empty_completion_is_no_answer(run, server, body):
    to = server(response_data=body, content_type="application/json")
    code, _, err = run("ask", "why?", "--method", "direct", *to)
    assert code == 1
    assert "no usable answer" in one_line(err.splitlines()[-1])


def test_nobody_listening(run, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ASPECTRAG_NUM_RETRIES", "0")
    code, out, err = run("ask", "why?", "--method", "direct", "--lm", "openai/x", "--api-base", "http://127.0.0.1:9/v1")
    assert (code, out) == (1, "")
    assert "127.0.0.1:9" in one_line(err)


def test_no_network_and_nothing_in_the_cache(run, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    code, out, err = run("lm", "pull", "encoder")
    assert (code, out) == (1, "")
    one_line(err)
    home = Path(os.environ["ASPECTRAG_HOME"])
    assert not [path for path in home.rglob("*") if path.is_file() and path.suffix not in (".lock",)]


def test_lm_list_and_check(run, server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "aspectrag.toml").write_text(
        '[lms.small]\nmodel = "ollama_chat/qwen3:4b"\n[roles]\naggregate = "small"\n', encoding="utf-8"
    )
    code, out, _ = run("lm", "list")
    assert code == 0
    assert "ollama_chat/qwen3:4b" in out
    assert "aggregate" in out


def test_interrupting_ends_at_once_without_a_stack_trace(httpserver):
    """A real process, a server that takes its time, and Ctrl-C."""
    asked, release = threading.Event(), threading.Event()

    def slow(request):
        asked.set()
        release.wait(20)
        return Response("{}")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(slow)
    command = [sys.executable, "-m", "aspectrag.app", "ask", "why?", "--method", "direct", "--lm", "openai/x"]
    process = subprocess.Popen(
        [*command, "--api-base", httpserver.url_for("/v1")],
        env={**os.environ, "OPENAI_API_KEY": KEY}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert asked.wait(30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=15)
    finally:
        release.set()
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert one_line(err) == "aspectrag: interrupted"
