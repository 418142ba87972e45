from aspectrag.programs.showing.differences import difference_page
from aspectrag.programs.trace import Step, Trace
from reports import EVIL, Elements


def trace(reply, *more):
    step = Step("module", "answer", {"question": "Why?"}, {"answer": reply}, 1.0, 1.0)
    return Trace([Step("program", "Rag", {"question": "Why?"}, {"answer": reply}, 1.0, 2.0, children=[step, *more])])


def test_what_differs_is_shown_in_both_its_forms():
    difference = trace("It is long.").compare(trace("It was long.", Step("warning", "budget", outputs="full")))
    html = difference_page(difference, ("one.json", "two.json"))
    page = Elements(html)
    text = " ".join(page.text.split())
    assert "A one.json: 0 model calls" in text
    assert "First with another outcome: Rag › answer" in text
    assert "budget only B full" in text
    assert "<del> is</del><ins> was</ins>" in html
    assert [attrs["href"] for tag, attrs in page.tags if tag == "a"] == ["#ds1"]


def test_that_nothing_differs_is_said():
    html = trace("So.").compare(trace("So."))._repr_html_()
    assert "Nothing differs but the time" in html
    assert "step module same" in html


def test_nothing_that_was_said_becomes_markup():
    one, other = trace(EVIL), trace(f"{EVIL}, {EVIL}", Step(EVIL, EVIL, EVIL, EVIL, error=EVIL))
    html = difference_page(one.compare(other), (EVIL, EVIL))
    tags = [tag for tag, _ in Elements(html).tags]
    assert (tags.count("script"), tags.count("style"), tags.count("img")) == (1, 1, 0)
    assert "\u202e" not in html
    assert "abcdef123456" not in html
