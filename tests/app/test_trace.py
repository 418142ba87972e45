"""The command: a tree, a page and a difference, of a file or of a question of a run."""

import json

import pytest
from aspectrag.programs.trace import Step, Trace
from reports import scored_run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "trace.json"
    saved(path, "So.")
    return path


def saved(path, answer):
    step = Step("module", "answer", {"question": "Why?"}, {"answer": answer})
    Trace([Step("program", "Rag", {"question": "Why?"}, {"answer": answer}, children=[step])]).save(path)
    return path


def test_a_file_is_shown_and_written_as_a_page(run, file, tmp_path):
    code, out, _ = run("trace", "show", file)
    assert (code, out.splitlines()[:3]) == (0, ["Why?", "", "So."])
    page = tmp_path / "page.html"
    code, out, _ = run("trace", "html", file, "--out", page)
    assert (code, out.strip()) == (0, str(page))
    html = page.read_text(encoding="utf-8")
    assert "<title>trace.json</title>" in html
    assert html.count("<script>") == 1


def test_a_question_of_a_run_has_its_trace(run, tmp_path):
    one, other = (scored_run(tmp_path / "runs", name) for name in ("one", "two"))
    code, out, _ = run("trace", "show", one.path, "--question", "q1")
    assert code == 0
    assert out.startswith("What about wine, number 1?")
    code, _, _ = run("trace", "html", tmp_path / "runs" / "one", "--question", "q1", "--out", tmp_path / "q1.html")
    assert code == 0
    assert "What about wine" in (tmp_path / "q1.html").read_text(encoding="utf-8")
    code, out, _ = run("trace", "diff", one.path, other.path, "--question", "q1", "--html", tmp_path / "d.html")
    assert code == 0
    assert "All steps had the same outcome." in out  # each run has a model of its own name
    assert "  model" in out
    assert (tmp_path / "d.html").is_file()
    for arguments, said in (
        ((one.path,), "holds the traces of 9 questions: give --question ID, such as q0"),
        ((one.path, "--question", "q11"), "has no question 'q11': did you mean 'q1'?"),
        ((tmp_path / "runs", "--question", "q1"), "holds several runs: give one of"),
        ((tmp_path, "--question", "q1"), "holds no run"),
    ):
        code, out, err = run("trace", "show", *arguments)
        assert (code, out) == (1, "")
        assert said in err
    for each in (one.path / "traces").iterdir():
        each.unlink()
    assert "keeps no trace of 'q1'" in run("trace", "show", one.path, "--question", "q1")[2]


def test_a_page_says_what_was_expected_wherever_the_run_lies(run, tmp_path):
    only, page = scored_run(tmp_path / "runs", "one"), tmp_path / "q1.html"
    for folder in (only.path, tmp_path / "runs"):
        page.unlink(missing_ok=True)
        assert run("trace", "html", folder, "--question", "q1", "--out", page)[0] == 0
        assert "expected: " in page.read_text(encoding="utf-8")
    file = only.path / "predictions.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"q1"' not in line), encoding="utf-8")
    assert run("trace", "html", only.path, "--question", "q1", "--out", page)[0] == 0
    assert "expected: " not in page.read_text(encoding="utf-8")


def test_two_files_are_compared(run, file, tmp_path):
    other, page = saved(tmp_path / "other.json", "Thus."), tmp_path / "difference.html"
    code, out, _ = run("trace", "diff", file, other, "--html", page)
    assert code == 0
    assert "First with another outcome: Rag > answer" in out
    assert "<del>So.</del><ins>Thus.</ins>" in page.read_text(encoding="utf-8")
    assert "Nothing differs" in run("trace", "diff", file, file)[1]


def test_what_cannot_be_done_is_said_in_one_line(run, file, tmp_path):
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(file.read_bytes()[:100])
    deep = tmp_path / "deep.json"
    inner = Step("module", "x").to_dict()
    for _ in range(400):
        inner = {**inner, "children": [inner]}
    deep.write_text(json.dumps({"steps": [inner]}))
    for arguments, said in (
        (("show", damaged), "damaged.json is no trace, or damaged"),
        (("html", damaged, "--out", tmp_path / "x.html"), "is no trace, or damaged"),
        (("diff", file, damaged), "is no trace, or damaged"),
        (("show", tmp_path / "none.json"), "cannot be read: No such file"),
        (("show", file, "--question", "q1"), "is none: leave it out"),
        (("diff", file, file, "--question", "q1"), "--question is for the folders of runs"),
        (("html", file, "--out", tmp_path), "is a folder"),
        (("diff", file, file, "--html", tmp_path / "missing" / "x.html"), "make it first"),
        (("html", file, "--out", file), "is a trace itself"),
        (("diff", file, damaged, "--html", damaged), "is a trace itself"),
        (("html", deep, "--out", tmp_path / "x.html"), "nested too deeply"),
    ):
        code, out, err = run("trace", *arguments)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert said in err
    assert not (tmp_path / "x.html").exists()
    assert Trace.load(file).steps
