from aspectrag.app.views.trace_html import gist, trace_html
from aspectrag.data.passages import Passage
from aspectrag.programs.trace import Step, Trace
from reports import EVIL, Elements

CALL = Step("lm", "model", {"prompt": "Why?"}, ["So."], 1.0, 0.5, tokens={"prompt": 30, "completion": 2}, cached=False)


def test_every_step_is_there_with_what_it_took_and_what_went_in_and_came_out():
    cached = Step("lm", "model", {"prompt": "How?"}, ["Thus."], cached=True)
    steps = [
        Step("module", "classify", {"question": "Why?"}, {"type": "REASON"}, 1.0, 0.6, children=[CALL]),
        Step("module", "answer", {"question": "How?"}, {"answer": "Thus."}, children=[cached]),
        Step(
            "retrieval", "retrieve", {"queries": ["why?", "how?"], "k": 2}, [[Passage("a", "Danube", "A river.")], []]
        ),
        Step("fallback", "answer", outputs="plain RAG instead"),
        Step("module", "aggregate", error="LMServerError: no"),
    ]
    page = Elements(trace_html(Trace([Step("program", "TypedRag", {"question": "Why?"}, children=steps)])))
    assert [attrs["class"] for tag, attrs in page.tags if tag == "details" and "step" in attrs["class"]] == [
        "step program", "step module", "step lm", "step module", "step lm", "step retrieval", "step fallback",
        "step module",
    ]  # fmt: skip
    text = " ".join(page.text.split())
    assert "1 model call, 30 + 2 tokens, 1 from the cache" in text
    assert "TypedRag program 0.00 s, 30 + 2 tokens inputs" in text
    assert "classify module 0.60 s, 30 + 2 tokens type: REASON" in text
    assert "model lm 0.50 s, 30 + 2 tokens" in text
    assert "answer module 0.00 s, cached answer: Thus." in text
    assert "retrieve retrieval 0.00 s why? | how?" in text
    assert "answer fallback plain RAG instead" in text
    assert "aggregate module 0.00 s LMServerError: no" in text
    for said in ("A river.", "Danube", "So.", "Thus."):
        assert said in text


def test_only_the_program_is_unfolded():
    page = Elements(trace_html(Trace([Step("program", "Rag", children=[CALL])])))
    assert [attrs["class"] for tag, attrs in page.tags if "open" in attrs] == ["step program"]


def test_nothing_that_a_document_or_model_said_becomes_markup():
    step = Step(EVIL, EVIL, {EVIL: EVIL}, [EVIL], error=EVIL, children=[Step("fallback", EVIL, outputs=EVIL)])
    html = trace_html(Trace([step]), style=False)
    page = Elements(html)
    assert not {tag for tag, _ in page.tags} & {"script", "img", "a", "style"}
    assert {name for _, attrs in page.tags for name in attrs} <= {"class", "dir", "open"}
    assert (
        page.text.count("<img src=x onerror=alert(1)>") == html.count("&lt;img") - 1 > 5
    )  # one is the kind, as a class
    assert "\u202e" not in html
    assert "abcdef123456" not in html
    html.encode()


def test_objects_and_secrets_are_shown_as_in_the_file():
    class Odd:
        def __str__(self):
            return "<odd>"

    text = Elements(
        trace_html(Trace([Step("module", "x", {"api_key": "hidden-away", "it": Odd(), "none": None})]))
    ).text
    assert "hidden-away" not in text
    assert "<odd>" in text


def test_the_style_comes_once_where_it_is_wanted():
    assert trace_html(Trace()).count("<style>") == 1
    assert "<style>" not in trace_html(Trace(), style=False)


def test_a_thousand_steps_are_all_there():
    steps = [
        Step("module", f"hop{n}", {"question": f"Why {n}?"}, {"answer": "So."}, children=[CALL]) for n in range(500)
    ]
    html = trace_html(Trace([Step("program", "Long", children=steps)]))
    assert html.count('<details class="step ') == 1001
    assert "500 model calls, 15000 + 1000 tokens" in html
    assert "hop499" in html


def test_a_gist_fits_on_a_line():
    said = gist({"kind": "module", "inputs": {}, "outputs": {"answer": "long " * 1000, "citations": []}})
    assert len(said) == 120
    assert said.startswith("answer: long long")
    assert gist({"kind": "branch", "inputs": {"title": "Danube"}, "outputs": None}) == "Danube"
    assert gist({"kind": "lm", "inputs": {"prompt": "x"}, "outputs": ["y"]}) == ""
