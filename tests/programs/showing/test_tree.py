import io
import subprocess
import sys

from aspectrag.data.passages import Passage
from aspectrag.programs.showing.rows import tree_of
from aspectrag.programs.showing.tree import trace_view
from aspectrag.programs.trace import Step, Trace
from rich.console import Console


def printed(view):
    console = Console(width=110, file=io.StringIO(), force_terminal=False)
    console.print(view)
    return console.file.getvalue()


def stage(name, **outputs):
    return Step("module", name, {"question": "Why?"}, outputs, seconds=1.0)


def trace(*steps, answer="So."):
    return Trace([Step("program", "Rag", {"question": "Why?"}, {"answer": answer}, children=list(steps))])


def test_question_and_answer_stand_before_the_tree():
    assert printed(trace(stage("answer", answer="So."))).splitlines()[:5] == [
        "Why?", "", "So.", "", "Steps  0 model calls, 0 + 0 tokens, 0 from the cache, 0.0 s",
    ]  # fmt: skip
    assert printed(Trace([stage("answer")])).startswith("Steps")


def test_the_tree_shows_errors_fallbacks_and_long_texts_cut():
    call = Step("lm", "model", tokens={"prompt": 3, "completion": 2}, cached=False)
    steps = [
        Step("module", "classify", outputs={"type": "x" * 500}, children=[call]),
        Step("retrieval", "retrieve", {"queries": ["why?", "how?"], "k": 2}, [[{"id": "a", "title": ""}], []]),
        Step("module", "answer", error="LMServerError: no", children=[]),
        Step("fallback", "answer", outputs="plain RAG instead"),
    ]
    out = printed(Trace([Step("program", "TypedRag", children=steps)]))
    assert "classify  0.00 s, 3 + 2 tokens" in out
    assert "x" * 81 not in out
    assert "why? -> a" in out
    assert "how? -> nothing" in out
    assert "LMServerError: no" in out
    assert "plain RAG instead" in out
    assert "1 model calls, 3 + 2 tokens" in out


def test_a_verdict_on_a_passage_is_one_line_with_its_title():
    call = Step("lm", "model", tokens={"prompt": 3, "completion": 2}, cached=False)
    verdict = Step("module", "judge_relevance", outputs={"relevant": True}, children=[call])
    branch = Step("branch", "passage 1", inputs=Passage("a", "[b]Danube[/b]", "x"), children=[verdict])
    out = printed(Trace([branch]))
    assert "passage 1  0.00 s, 3 + 2 tokens  relevant: True  [b]Danube[/b]" in out
    assert "judge_relevance" not in out


def test_texts_stay_texts():
    said = "[red]So[/red] :smile: \x1b[31m \u202e sk-abcdefgh12345"
    shown = trace(stage(said, **{said: said}), Step("fallback", said, outputs=said), answer=said)
    shown.steps.append(Step("branch", said))
    for text in (printed(shown), repr(shown), str(shown)):
        assert "[red]So[/red] :smile:" in text
        assert not any(sign in text for sign in ("\x1b", "\u202e", "abcdefgh"))


def test_in_words_it_is_one_line():
    call = Step("lm", "model", tokens={"prompt": 30, "completion": 4}, cached=False)
    step = Step("program", "Rag", outputs={"answer": "So."}, seconds=2.0, children=[call])
    assert repr(Trace([step])) == str(Trace([step])) == "Trace(Rag: 2 steps, 1 calls, 30 + 4 tokens, 2.0 s)"
    assert repr(Trace([])) == "Trace(nothing: 0 steps, 0 calls, 0 + 0 tokens, 0.0 s)"
    assert "\n" not in repr(Trace([Step("program", "a\nb" * 500)]))
    assert len(repr(Trace([Step("program", "a" * 5000)]))) < 200


def test_rich_is_imported_when_it_is_asked_for():
    code = (
        "import sys\n"
        "from aspectrag.programs.showing.difference import compare\n"
        "from aspectrag.programs.trace import Trace\n"
        "repr(Trace([])), repr(compare(Trace([]), Trace([])))\n"
        "sys.exit('aspectrag.programs.showing.tree' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_sub_question_with_steps_says_what_was_asked_and_answered():
    part = Step("branch", "sub-question 1", {"question": "Who " * 40}, {"answer": "She."}, children=[stage("answer")])
    text = printed(trace_view(trace(part)))
    assert "answer: She." in text
    assert "Who Who" in text
    assert "She." in tree_of(trace(part).to_dict()).rows[0].children[0].gist()


def test_notes_are_told_apart_without_colour():
    text = printed(trace_view(trace(Step("fallback", "decompose", outputs="asked as a whole"))))
    assert "! decompose (fallback)" in text
    assert "asked as a whole" in text
