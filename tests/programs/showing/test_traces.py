import re

from aspectrag.data.passages import Passage
from aspectrag.programs.program import result
from aspectrag.programs.showing.known import Known
from aspectrag.programs.showing.pages import templates
from aspectrag.programs.showing.traces import record_html, trace_html, trace_page
from aspectrag.programs.trace import Step, Trace
from reports import EVIL, Elements

CALL = Step("lm", "model", {"prompt": "Why?"}, ["So."], 1.0, 0.5, tokens={"prompt": 30, "completion": 2}, cached=False)
PASSAGES = [Passage("a", "Danube", "A river."), Passage("b", "Vistula", "Another river.")]


def answered():
    return result("It flows [2].", route="rag", passages=PASSAGES, steps=1)


def traced(*steps, **more):
    return Trace(
        [Step("program", "TypedRag", {"question": "Why?"}, answered(), 1.0, 4.0, children=list(steps), **more)]
    )


def view(trace):
    return record_html(trace.to_dict(), templates(), id="x", answered=True)


def test_every_step_is_there_with_what_it_took_and_what_went_in_and_came_out():
    cached = Step("lm", "model", {"prompt": "How?"}, ["Thus."], cached=True)
    page = Elements(
        view(
            traced(
                Step("module", "classify", {"question": "Why?"}, {"type": "REASON"}, 1.0, 0.6, children=[CALL]),
                Step("module", "answer", {"question": "How?"}, {"answer": "Thus."}, children=[cached]),
                Step("retrieval", "retrieve", {"queries": ["why?", "how?"], "k": 2}, [[PASSAGES[0]], []]),
                Step("fallback", "answer", outputs="plain RAG instead"),
                Step("module", "aggregate", error="LMServerError: no"),
            )
        )
    )
    assert [attrs["class"] for tag, attrs in page.tags if tag == "details" and "step" in attrs["class"]] == [
        "step program", "step module", "step module cached", "step retrieval", "step fallback", "step module failed",
    ]  # fmt: skip
    text = " ".join(page.text.split())
    assert "1 model call, 30 + 2 tokens, 1 from the cache, 4.0 s" in text
    assert "classify type: REASON 30 + 2 tokens, 0.60 s" in text
    assert "answer answer: Thus. cached 0.00 s" in text
    assert "retrieve why? → Danube; how? → nothing 0.00 s" in text
    assert "answer fallback plain RAG instead" in text
    assert "aggregate LMServerError: no" in text
    assert "2 things went wrong" in text
    for said in ("prompt to model", "A river.", "So.", "Thus."):
        assert said in text


def test_only_the_program_and_the_way_to_trouble_are_unfolded():
    def unfolded(*steps):
        tags = Elements(view(traced(*steps))).tags
        return [attrs["id"] for _, attrs in tags if "open" in attrs and "step" in attrs["class"].split()]

    assert unfolded(Step("branch", "part", children=[CALL])) == ["xs0"]
    assert unfolded(Step("branch", "part", children=[Step("warning", "budget", outputs="full")]), CALL) == [
        "xs0",
        "xs1",
    ]


def test_the_answer_comes_first_and_its_citations_lead_to_its_passages():
    page = Elements(view(traced()))
    assert [attrs["href"] for tag, attrs in page.tags if tag == "a"] == ["#xp2"]
    assert [attrs["class"] for _, attrs in page.tags if attrs.get("id") == "xp2"] == ["passage cited"]
    assert page.text.count("A river.") == 1  # and not among the outputs of the program again
    text = " ".join(page.text.split())
    assert text.startswith("Why? It flows [2]. rag · 1 step 2 passages, 1 cited")


def test_within_a_report_the_answer_is_not_repeated():
    text = Elements(record_html(traced().to_dict(), templates(), id="x")).text
    assert text.split()[:2] == ["0", "model"]
    assert "A river." in text


def test_a_bar_shows_when_a_step_ran():
    html = view(traced(Step("branch", "a", started=1.0, seconds=2.0), Step("branch", "b", started=2.0, seconds=3.0),
                       Step("retrieval", "c", started=5.0, seconds=0.0)))  # fmt: skip
    found = re.findall(r'<rect x="([\d.]+)" y="1" width="([\d.]+)"', html)
    assert found == [("0.0", "1000.0"), ("0.0", "500.0"), ("250.0", "750.0"), ("994.0", "6.0")]
    assert re.findall(r"<span>([^<]*)</span>", html.split('class="axis"')[1])[:3] == ["0", "2", "4 s"]


def test_nothing_that_a_document_or_model_said_becomes_markup():
    step = Step(EVIL, EVIL, {EVIL: EVIL}, [EVIL], error=EVIL, children=[Step("fallback", EVIL, outputs=EVIL)])
    messages = [{"role": EVIL, "content": EVIL}, {"role": "user", "content": [{"type": "text", "text": EVIL}]}]
    call = Step("lm", EVIL, {"messages": messages}, [EVIL])
    stage = Step("module", EVIL, {EVIL: EVIL}, {EVIL: EVIL}, children=[call])
    outputs = result(f"{EVIL} [1]", route=EVIL, passages=[Passage(EVIL, EVIL, EVIL, meta={EVIL: EVIL})], steps=1)
    html = view(Trace([Step("program", EVIL, {"question": EVIL}, outputs, children=[step, stage])]))
    page = Elements(html)
    assert not {tag for tag, _ in page.tags} & {"script", "img", "style", "iframe"}
    names = {name for _, attrs in page.tags for name in attrs}
    assert not [name for name in names if name.startswith("on") or name in ("src", "style", "srcset")]
    assert all(attrs["href"].startswith("#x") for tag, attrs in page.tags if tag == "a")
    assert page.text.count("<img src=x onerror=alert(1)>") == html.count("&lt;img") > 10
    assert "\u202e" not in html
    assert "abcdef123456" not in html
    html.encode()


def test_objects_and_secrets_are_shown_as_in_the_file():
    class Odd:
        def __str__(self):
            return "<odd>"

    text = Elements(view(Trace([Step("module", "x", {"api_key": "hidden-away", "it": Odd(), "none": None})]))).text
    assert "hidden-away" not in text
    assert "<odd>" in text


def test_several_on_a_page_share_no_id_and_style_only_themselves():
    trace = traced(CALL)
    ids = [
        attrs["id"]
        for html in (trace_html(trace), trace_html(trace))
        for _, attrs in Elements(html).tags
        if "id" in attrs
    ]
    assert len(ids) == len(set(ids)) > 0
    style = re.search(r"<style>(.*?)</style>", trace_html(trace), re.DOTALL)[1]
    rules = re.findall(r"^\s*([^\s@}/-][^{}]*)\{", style, re.MULTILINE)
    assert len(rules) > 50
    selectors = [each for rule in rules for each in re.split(r",(?![^(]*\))", rule)]
    assert {each.strip() for each in selectors if ".aspectrag-trace" not in each} == {"::highlight(aspectrag-found)"}


def test_results_and_traces_show_themselves_in_a_notebook():
    own = answered()
    assert "It flows [" in own._repr_html_()  # made by hand: it has no trace
    own._trace = traced(CALL)
    text = " ".join(Elements(own._repr_html_()).text.split())
    assert text.startswith("Why? It flows [2].")
    assert text.count("It flows") == 1
    assert "TypedRag" in own.trace._repr_html_()
    assert "0 model calls" in Trace()._repr_html_()


def test_a_page_stands_alone():
    html = trace_page(traced(CALL), EVIL)
    page = Elements(html)
    assert html.startswith("<!DOCTYPE html>")
    assert [tag for tag, _ in page.tags if tag in ("script", "style", "link", "img")] == ["style", "script"]
    assert not [attrs for _, attrs in page.tags if "src" in attrs]
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert trace_page(traced(CALL), EVIL) == html


def test_a_thousand_steps_are_all_there():
    steps = [
        Step("module", f"hop{n}", {"question": f"Why {n}?"}, {"answer": "So."}, children=[CALL]) for n in range(1000)
    ]
    html = view(Trace([Step("program", "Long", children=steps)]))
    assert html.count('<details class="step ') == 1001
    assert "1000 model calls, 30000 + 2000 tokens" in html
    assert "hop999" in html


def test_what_was_expected_and_the_step_that_lost_it_are_said():
    steps = [Step("module", "route", {}, {"route": "single"}), Step("module", "answer", {}, {"answer": "<b>"})]
    page = trace_page(Trace([Step("program", "Rag", {"question": "Why?"}, children=steps)]), "t", Known(
        ["<i>So</i>"], "reading", "found, and <b>read</b> in vain", place=2
    ))  # fmt: skip
    assert "&lt;i&gt;So&lt;/i&gt;" in page
    assert 'Lost by <b>reading</b> at <a href="#ts2">answer</a>' in page
    assert "&lt;b&gt;read&lt;/b&gt; in vain" in page
    assert re.search(r'<details class="step module lost" id="ts2"', page)
