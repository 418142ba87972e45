"""``aspectrag data annotate``: what is written, what is not, and how it goes on after it was stopped."""

import json
import os
import signal
import subprocess
import sys
import threading

import datasets
import dspy
import pytest
from aspectrag.app import cli, data
from aspectrag.lms import scripted_lm
from werkzeug import Response

GOOD = {"facets": [{"facet": "causes", "first_sentence": 1}, {"facet": "effects", "first_sentence": 2}]}
LEAK = {"facets": [{"facet": "causes", "first_sentence": 1}, {"facet": "why Bruges fell", "first_sentence": 2}]}


def record(name, **changes):
    answers = [f"Trade of {name} fell. In the end Bruges fell too.", "Short."]
    return {"id": name, "question": f"Why did {name} end?", "answers": answers, "kept": {"ü": 1}, **changes}


def annotated(name):
    parts = [("causes", f"Trade of {name} fell."), ("effects", "In the end Bruges fell too.")]
    subs = [{"question": facet, "answers": [text], "source": "annotation"} for facet, text in parts]
    return {**record(name), "sub_questions": subs, "aspects_by": "scripted/x"}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = cli.run(["data", "annotate", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def questions(tmp_path):
    def write(*records, name="questions.jsonl"):
        path = tmp_path / name
        texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in records]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def model(monkeypatch):
    """A scripted model; ``reply`` is called with the name that a question is about."""

    def use(reply=lambda name: GOOD, latency=0.0):
        def answer(call):
            said = reply(call.inputs["question"].split()[2])
            return said() if callable(said) else said

        lm = scripted_lm(answer, latency, cache=False)
        lm.model = "scripted/x"
        monkeypatch.setattr(data, "load", lambda *args, **kwargs: lm)
        return lm.engine

    return use


def one_line(err):
    (line,) = [line for line in err.splitlines() if line.strip()]
    assert line.startswith("aspectrag: ")
    return line


def test_records_get_their_sub_questions_in_the_order_of_the_input(run, questions, model, tmp_path):
    names = [f"League{n}" for n in range(12)]
    delays = iter([0.2, 0.1] + [0.0] * 20)

    def reply(name):
        threading.Event().wait(next(delays))  # the first questions are the last to be answered
        return GOOD

    model(reply)
    out = tmp_path / "out.jsonl"
    code, said, err = run(questions(*map(record, names)), "--out", out, "--workers", 4)
    assert (code, err) == (0, "")
    assert said == f"{out}: 12 of 12 questions annotated, 12 of them now\n"
    assert lines(out) == [annotated(name) for name in names]
    assert "ü" in out.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.glob("out*")] == ["out.jsonl"]


def test_failures_are_listed_with_their_reason_and_not_written(run, questions, model, tmp_path):
    engine = model(lambda name: LEAK if name == "B" else "\x1b[31mno" if name == "C" else GOOD)
    out = tmp_path / "out.jsonl"
    path = questions(*map(record, "ABC"), record("D\x1b[1m", answers=["One sentence."]))
    code, said, err = run(path, "--out", out)
    assert code == 0
    assert "1 of 4 questions annotated" in said
    assert err.splitlines() == [
        "! B: not split into facets: the facet 'why Bruges fell' tells what only the answer does: 'Bruges'",
        "! C: not split into facets: the output does not parse",
        "! D[1m: the answer has one sentence: nothing to split",
    ]
    assert lines(out) == [annotated("A")]
    assert len(engine.calls) == 1 + 3 + 3


def test_nothing_annotated_is_a_failure(run, questions, model, tmp_path):
    model(lambda name: LEAK)
    out = tmp_path / "out.jsonl"
    code, said, err = run(questions(record("A")), "--out", out)
    assert (code, said) == (1, "")
    assert err.splitlines()[-1] == "aspectrag: none of the 1 questions could be annotated"
    assert not out.exists()


def test_it_goes_on_where_it_was_asks_failures_again_and_drops_a_line_cut_short(run, questions, model, tmp_path):
    path, out, whole = questions(*map(record, "ABCDE")), tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    model()
    assert run(path, "--out", whole)[0] == 0
    model(lambda name: LEAK if name == "B" else GOOD)
    assert run(path, "--out", out)[0] == 0
    written = out.read_bytes()
    out.write_bytes(written[:-40])  # E is cut short
    engine = model()
    code, said, err = run(path, "--out", out)
    assert (code, err) == (0, "")
    assert "5 of 5 questions annotated, 2 of them now" in said
    assert sorted(call.inputs["question"] for call in engine.calls) == ["Why did B end?", "Why did E end?"]
    assert out.read_bytes() == whole.read_bytes()
    engine = model()
    assert run(path, "--out", out)[1].endswith("5 of 5 questions annotated, 0 of them now\n")
    assert not engine.calls
    assert out.read_bytes() == whole.read_bytes()


def test_a_sample_is_the_same_each_time_and_grows_into_the_whole(run, questions, model, tmp_path):
    names = [f"L{n}" for n in range(20)]
    path, one, two = questions(*map(record, names)), tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    model()
    for out, seed in ((one, 3), (two, 3)):
        assert "5 of 5 questions" in run(path, "--out", out, "--limit", 5, "--seed", seed)[1]
    assert one.read_bytes() == two.read_bytes()
    found = [line["id"] for line in lines(one)]
    assert found == sorted(found, key=names.index)
    assert found != names[:5]
    assert "5 of 5 questions annotated" in run(path, "--out", two, "--limit", 5, "--seed", 4)[1]
    assert run(path, "--out", one, "--limit", 50)[0] == 0
    assert [line["id"] for line in lines(one)] == names


def test_odd_but_good_records(run, questions, model, tmp_path):
    odd = [
        record("A", id=7),
        record("B", id=None),
        record("C\u2028D"),
        record("E", id="\ud83d", question="Why did E\ud83d?"),
    ]
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(json.dumps(r).encode() for r in odd))
    out = tmp_path / "out.jsonl"
    model()
    for now in (4, 0):
        code, said, err = run(path, "--out", out)
        assert (code, err) == (0, "")
        assert said.endswith(f"4 of 4 questions annotated, {now} of them now\n")
    first, second, third, fourth = lines(out)
    assert (first["id"], third["id"], fourth["id"]) == (7, "C\u2028D", "?")
    assert len(second["id"]) == 32  # a digest of the text: it stays when lines are added before


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "is empty"),
        (["{broken"], "line 1 is not JSON"),
        ([record("A"), "[1]"], "line 2 is not a record but a list"),
        (["[" * 100_000], "line 1 is not JSON"),
        (['{"id": ' + "1" * 5_000 + "}"], "line 1 has a number of more than 4,300 digits"),
        ([record("A"), {"id": "B", "answers": ["x"]}], 'line 2 has no "question"'),
        ([record("A", question=" ")], 'line 1 has no "question"'),
        ([record("A", answers=[])], 'line 1 has no "answers"'),
        ([record("A", answers="text")], 'line 1 has no "answers"'),
        ([record("A", answers=[3])], 'line 1 has no "answers"'),
        ([record("A", id=["x"])], 'the "id" is neither text nor a number'),
        ([record("A"), record("B"), record("C", id="A")], "line 3: the id 'A' is that of line 1 too"),
        ([record("A", id=1), record("B", id="1")], "line 2: the id '1' is that of line 1 too"),
    ],
)
def test_a_bad_input_is_told_in_one_line_before_any_call(run, questions, model, tmp_path, records, words):
    engine = model()
    code, said, err = run(questions(*records), "--out", tmp_path / "out.jsonl")
    assert (code, said) == (1, "")
    assert words in one_line(err)
    assert not engine.calls
    assert not (tmp_path / "out.jsonl").exists()


def test_bad_files_are_told_in_one_line(run, questions, model, tmp_path):
    engine = model()
    path = questions(record("A"), record("B"))
    before = path.read_bytes()
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"question": "ü"}'.encode("latin-1"))
    for arguments, words in [
        ((tmp_path / "none.jsonl", "--out", tmp_path / "o"), "none.jsonl"),
        ((tmp_path, "--out", tmp_path / "o"), "directory"),
        ((latin, "--out", tmp_path / "o"), "line 1 is not UTF-8"),
        ((path, "--out", path), "this is the file with the questions"),
        ((path, "--out", tmp_path / "no" / "o"), "does not exist"),
        ((path, "--out", tmp_path), "directory"),
    ]:
        code, said, err = run(*arguments)
        assert (code, said) == (1, "")
        assert words in one_line(err)
    assert path.read_bytes() == before
    assert not engine.calls


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(annotated("Z")),
        json.dumps({**annotated("A"), "question": "Another?"}),
        json.dumps(record("A")),
        "{broken",
    ],
    ids=["another set", "changed", "not annotated", "broken"],
)
def test_a_file_of_something_else_is_not_extended(run, questions, model, tmp_path, line):
    out = questions(line, name="out.jsonl")
    before = out.read_bytes()
    engine = model()
    code, said, err = run(questions(record("A"), record("B")), "--out", out)
    assert (code, said) == (1, "")
    assert "line 1 is no" in one_line(err).replace("is not JSON", "is no")
    assert out.read_bytes() == before
    assert not engine.calls


def test_a_call_that_fails_costs_its_question_alone(run, questions, model, tmp_path):
    model(lambda name: dspy.LMServerError("boom") if name in "BD" else GOOD)
    out = tmp_path / "out.jsonl"
    code, _, err = run(questions(*map(record, "ABCDE")), "--out", out, "--workers", 1)
    assert code == 0
    assert [line.split(":")[0] for line in err.splitlines()] == ["! B", "! D"]
    assert "boom" in err
    assert [line["id"] for line in lines(out)] == ["A", "C", "E"]


def test_a_server_that_is_gone_is_not_asked_for_every_question(run, questions, model, tmp_path):
    engine = model(lambda name: GOOD if name == "L0" else dspy.LMServerError("boom"))
    out = tmp_path / "out.jsonl"
    code, said, err = run(questions(*(record(f"L{n}") for n in range(50))), "--out", out, "--workers", 1)
    assert (code, said) == (1, "")
    assert err.splitlines()[-1].startswith("aspectrag: the server of")
    assert len(engine.calls) <= 5
    assert [line["id"] for line in lines(out)] == ["L0"]


def test_the_model_of_the_stage_is_the_one_that_is_named(run, questions, model, tmp_path, monkeypatch):
    engine = model()
    own = scripted_lm(GOOD)
    monkeypatch.setattr(data, "roles", lambda: {"split": own})
    out = tmp_path / "out.jsonl"
    assert run(questions(record("A")), "--out", out)[0] == 0
    assert lines(out)[0]["aspects_by"] == own.model
    assert (len(own.engine.calls), len(engine.calls)) == (1, 0)


def test_interrupted_what_was_written_is_kept(questions, tmp_path, httpserver):
    """A real process, a server that answers one question and then takes its time, and Ctrl-C."""
    asked, release = threading.Event(), threading.Event()
    facets = json.dumps(GOOD["facets"])
    message = {"role": "assistant", "content": f"[[ ## facets ## ]]\n{facets}\n\n[[ ## completed ## ]]"}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "x", "choices": choices}

    def answer(request):
        if "Why did A end?" not in request.get_data(as_text=True):
            asked.set()
            release.wait(20)
        return Response(json.dumps(reply), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(answer)
    out = tmp_path / "out.jsonl"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "aspectrag.app", "data", "annotate", str(questions(*map(record, "ABCD")))),
            *("--out", str(out), "--workers", "1", "--lm", "openai/x", "--api-base", httpserver.url_for("/v1")),
        ],
        env={**os.environ, "OPENAI_API_KEY": "sk-test-abcdefghij0123456789"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert asked.wait(60)
        assert [line["id"] for line in lines(out)] == ["A"]  # written before the next was asked
        process.send_signal(signal.SIGINT)
        said, err = process.communicate(timeout=15)
    finally:
        release.set()
        process.kill()
    assert (process.returncode, said, err) == (130, "", "aspectrag: interrupted\n")
    assert [line["id"] for line in lines(out)] == ["A"]


def test_help_says_what_a_set_is(capsys):
    assert cli.run(["data", "--help"]) == 0
    said = capsys.readouterr().out
    assert '"question"' in said
    assert "annotate" in said


@pytest.fixture
def call(capsys):
    def run(*arguments):
        code = cli.run(["data", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def rivers(monkeypatch):
    """A hub that has three questions of MuSiQue in each split."""

    def load_dataset(path, config=None, *, split):
        paragraph = {"idx": 0, "title": "Alda", "paragraph_text": f"A river ({split}).", "is_supporting": True}
        part = {"question": "Which?", "answer": "Alda", "paragraph_support_idx": 0}
        record = {
            "paragraphs": [paragraph],
            "question_decomposition": [part, part],
            "answer": "Alda",
            "answerable": True,
        }
        return [
            {**record, "id": f"2hop__{split}{n}", "question": f"Which river is [bold]{n}[/bold]?"} for n in range(3)
        ]

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)


def test_benchmarks_are_listed(call, rivers):
    code, said, err = call("list", "--json")
    assert (code, err) == (0, "")
    by_name = {row["name"]: row for row in map(json.loads, said.splitlines())}
    assert len(by_name) == 18
    assert by_name["demo"]["here"] == "comes with the package"
    assert by_name["musique"] | {"about": ""} == {
        "name": "musique",
        "about": "",
        "licence": "CC BY 4.0",
        "categories": ["type", "hops"],
        "here": "on the hub",
    }
    assert by_name["nf-cats"]["here"] == "give its files"
    table = call("list")[1]
    assert "wiki-nfqa" in table
    assert "CC BY-SA 4.0" in table
    # In a pipe too there is room to read what a benchmark asks.
    assert "demo             65 questions of every type and route over the    Apache-2.0" in table
    assert max(map(len, table.splitlines())) <= 110


def test_a_benchmark_is_fetched_once_and_then_found_by_its_name(call, rivers, monkeypatch):
    code, said, _ = call("fetch", "musique")
    assert code == 0
    assert said.endswith("musique: 3 tune, 3 dev, 2 passages\n")
    monkeypatch.setattr(datasets, "load_dataset", None)  # from here on there is no hub
    code, said, _ = call("show", "musique", "--json")
    shown = json.loads(said)
    assert code == 0
    assert shown["questions"] == 3
    assert shown["categories"] == {"type": {"2hop": 3}, "hops": {"2": 3}}
    assert shown["source"].endswith("benchmarks/musique/dev.jsonl")
    assert shown["corpus"].endswith("benchmarks/musique/corpus.jsonl")
    listed = map(json.loads, call("list", "--json")[1].splitlines())
    assert {row["name"]: row["here"] for row in listed}["musique"] == "fetched"
    code, _, err = call("fetch", "musique")
    assert code == 1
    assert "is not empty: remove it" in one_line(err)


def test_a_fetched_folder_can_be_taken_elsewhere(call, rivers, tmp_path):
    assert call("fetch", "musique", "--out", tmp_path / "musique")[0] == 0
    code, said, _ = call("show", "musique", "--questions", tmp_path / "musique", "--split", "tune", "--limit", 2)
    assert code == 0
    assert "2hop 2" in said
    assert "Which river is [bold]" in said  # texts are no markup
    assert "steps" in said


def test_the_demo_is_shown_without_a_network(call, monkeypatch):
    monkeypatch.setattr(datasets, "load_dataset", None)
    code, said, err = call("show", "demo")
    assert (code, err) == (0, "")
    assert "single-step 21, straightforward 4, compound 4, complex 3" in said


def test_what_cannot_be_had_is_one_line(call, monkeypatch, tmp_path):
    def unreachable(*_, **__):
        raise ConnectionError("unreachable")

    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    for arguments, words in [
        (("show", "musique"), "aspectrag data fetch musique"),
        (("fetch", "musique"), "could not be had from the hub"),
        (("fetch", "nf-cats"), "get it from github.com/Lurunchik/NF-CATS"),
        (("show", "musik"), "did you mean 'musique'"),
        (("show", "musique", "--split", "test"), "choose tune or dev"),
        (("show", "musique", "--questions", tmp_path / "none"), "does not exist"),
    ]:
        code, said, err = call(*arguments)
        assert (code, said) == (1, "")
        assert words in one_line(err)
