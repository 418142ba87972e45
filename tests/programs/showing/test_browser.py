"""Traces in a browser: in a page of their own and several in a notebook, used as a reader would."""

import pytest
from aspectrag.data.passages import Passage
from aspectrag.programs.blocks.answering import SubQuestion
from aspectrag.programs.program import result
from aspectrag.programs.showing.differences import difference_page
from aspectrag.programs.showing.traces import trace_page
from aspectrag.programs.trace import Step, Trace
from browser import launched, needs_chromium, reading
from reports import EVIL

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = needs_chromium
LONG = 1_000


@pytest.fixture(scope="module")
def browser():
    with launched(playwright) as running:
        yield running


def call(reply, started=0.0):
    given = {"messages": [{"role": "user", "content": "Is it the Vistula?"}]}
    return Step("lm", "model", given, [reply], started, 1.0, tokens={"prompt": 30, "completion": 2}, cached=False)


def trace(said="It flows", *more):
    passages = [Passage("a", "Danube", f"A river. {said}"), Passage("b", "Vistula", f"Another river. {said}")]
    parts = [
        Step("branch", f"part {n}", f"Where, {n}?", {"answer": said}, 1.0 + n, 2.0, children=[
            Step("retrieval", "retrieve", {"queries": [f"where {n}"], "k": 2}, [passages], 1.0 + n, 0.1),
            Step("module", "answer", {"question": "Where?"}, {"answer": said}, 2.0 + n, 1.0,
                 children=[call(said, 2.0 + n)]),
        ]) for n in (1, 2)
    ]  # fmt: skip
    fell = Step("branch", "last", children=[Step("fallback", "merge", outputs=f"joined. {said}")])
    outputs = result(f"{said} [2].", route="typed", passages=passages, steps=1)
    return Trace([Step("program", "TypedRag", {"question": f"Where? {said}"}, outputs, 1.0, 5.0,
                       children=[*parts, fell, *more])])  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "trace.html"
    path.write_text(trace_page(trace(), "trace"), encoding="utf-8")
    return path


@pytest.fixture
def page(browser, file):
    with reading(browser, file) as opened:
        yield opened


def names(page):
    return page.locator(".step:visible > summary .name").all_inner_texts()


def test_it_opens_with_what_matters_and_expands(page):
    assert names(page) == ["TypedRag", "part 1", "part 2", "last", "merge"]
    page.locator(".step.branch > summary").first.click()
    page.locator(".step.module:visible > summary").click()
    prompt = page.locator(".part.prompt:visible")
    assert "Is it the Vistula?" not in prompt.inner_text()
    prompt.locator("summary").click()
    assert "Is it the Vistula?" in prompt.inner_text()
    page.locator(".unfold").first.click()
    assert len(names(page)) == 9
    page.locator(".unfold").last.click()
    assert names(page) == ["TypedRag", "part 1", "part 2", "last"]


def test_a_citation_of_a_sub_answer_leads_to_its_own_passage(browser, tmp_path):
    rivers = [Passage(name, name, f"About the {name}.") for name in ("Danube", "Vistula", "Elbe")]
    parts = [SubQuestion("Which?", "It is that [2].", (rivers[2], rivers[1])), SubQuestion("Else?", "No [1] [9].", ())]
    outputs = result("So [2].", route="typed", passages=rivers[::-1], sub_questions=parts, steps=1)
    file = tmp_path / "parts.html"
    file.write_text(trace_page(Trace([Step("program", "TypedRag", {"question": "Where?"}, outputs)]), "t"))
    with reading(browser, file) as page:
        page.locator(".subs > summary").click()
        assert page.locator(".subs a").all_inner_texts() == ["2"]
        assert not page.locator(".subs .passages > .passage").first.is_visible()
        page.locator(".subs a").click()
        assert page.locator(".subs .passage.here.cited").inner_text().startswith("[2] Vistula")
        assert page.locator(".subs .passages > summary").all_inner_texts() == ["2 passages, 1 cited"]
        assert "No [1] [9]." in page.locator(".subs").inner_text()
        ids = page.locator("[id]").evaluate_all("all => all.map(each => each.id)")
        assert len(ids) == len(set(ids))


def test_a_citation_leads_to_its_passage_and_a_trouble_to_its_step(page):
    page.locator(".unfold").last.click()
    assert not page.get_by_text("Another river.").first.is_visible()
    page.locator(".answered a").click()
    assert page.locator(".passage.here").inner_text().startswith("[2] Vistula")
    assert page.get_by_text("Another river.").first.is_visible()
    page.locator(".troubles a").click()
    assert page.locator(".step.here .name").inner_text() == "merge"
    assert page.locator(".here").count() == 1


def test_steps_are_found_by_words_and_where_they_stand(page):
    page.fill(".find", "IS IT the vistula")
    page.locator(".found", has_text="2 of 9").wait_for()
    assert names(page) == ["TypedRag", "part 1", "answer", "part 2", "answer"]
    assert page.locator(".where").all_inner_texts() == ["prompt", "prompt"]
    page.fill(".find", "nothing has these words")
    page.locator(".found", has_text="0 of 9").wait_for()
    page.fill(".find", "")
    page.locator(".step.fallback").wait_for()
    assert names(page) == ["TypedRag", "part 1", "part 2", "last", "merge"]
    assert page.locator(".where").count() == 0


def test_steps_side_by_side_overlap_on_the_axis(page):
    bars = page.locator(".step.branch > summary .bar rect")
    one, other = (bars.nth(n).bounding_box() for n in (0, 1))
    assert one["x"] < other["x"] < one["x"] + one["width"]
    ends = page.locator(".step:visible > summary .bar").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().right)"
    )
    assert len(set(ends)) == 1  # of all depths, below each other


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_both_colour_schemes(browser, file, scheme):
    with reading(browser, file, color_scheme=scheme) as page:
        for part in (".gist", ".cost", ".answered p", ".troubles li", ".fallback .name"):
            assert contrast(page.locator(part).first) > 4.5, part


def contrast(element):
    """Between an element's text and what is behind it (WCAG 2.2)."""
    return element.evaluate("""element => {
        const light = (colour) => {
            const parts = colour.match(/[\\d.]+/g).map(Number).slice(0, 3);
            const linear = parts.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
        };
        let behind = element;
        while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
        const pair = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)];
        return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    }""")


def test_nothing_that_was_said_acts(browser, tmp_path):
    file = tmp_path / "hostile.html"
    file.write_text(trace_page(trace(EVIL), EVIL), encoding="utf-8")
    with reading(browser, file) as page:
        page.locator(".unfold").first.click()
        page.locator(".answered a").first.click()
        page.fill(".find", "<script>")
        page.locator(".found", has_text="of 9").wait_for()
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 1
        for part in (".asked", ".answered p.text", ".step.module .gist", ".step.fallback .gist"):
            assert "</script><script>alert(1)</script>" in page.locator(part).first.inner_text(), part


def test_several_in_a_notebook_do_not_clash_and_leave_it_as_it_is(browser, tmp_path):
    file = tmp_path / "notebook.html"
    outputs = "".join(f"<div class='output'>{trace(said)._repr_html_()}</div>" for said in ("First", "Second"))
    file.write_text(
        "<!DOCTYPE html><meta charset=utf-8><style>summary { color: red } p { margin: 30px } rect { fill: red }</style>"
        f"<details class='step'><summary class='name error'>mine</summary><p class='text'>x</p></details>{outputs}",
        encoding="utf-8",
    )
    with reading(browser, file) as page:
        mine = page.locator("body > details > summary")
        assert (
            mine.evaluate("e => getComputedStyle(e).color + getComputedStyle(e).display") == "rgb(255, 0, 0)list-item"
        )
        first, second = (page.locator(".output").nth(n) for n in (0, 1))
        second.locator(".answered a").click()
        assert second.locator(".passage.here").inner_text().startswith("[2] Vistula")
        assert first.locator(".here").count() == 0
        second.locator(".find").fill("vistula?")
        second.locator(".found", has_text="2 of 9").wait_for()
        assert first.locator(".found").inner_text() == ""
        assert first.locator(".step[hidden]").count() == 0
        assert (
            page.evaluate("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size")
            == page.locator("[id]").count()
        )


def test_without_its_script_it_unfolds_and_its_citations_lead_on(browser, file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert not page.locator(".find").is_visible()
    page.locator(".answered a").click()
    page.locator(".passage:target > summary").click()
    assert "Another river." in page.locator(".passage:target").inner_text()
    page.locator(".step.branch > summary").first.click()
    assert len(names(page)) == 7
    context.close()


def test_a_thousand_steps_stay_usable(browser, tmp_path):
    file = tmp_path / "long.html"
    steps = [
        Step(
            "module",
            f"hop{n}",
            {"question": f"Why {n}?"},
            {"answer": "So."},
            1.0 + n / LONG,
            1.0,
            children=[call("So.")],
        )
        for n in range(LONG)
    ]
    file.write_text(trace_page(trace("It flows", *steps), "long"), encoding="utf-8")
    with reading(browser, file) as page:
        page.locator(".step.module").last.wait_for()
        page.fill(".find", f"Why {LONG - 1}?")
        page.locator(".found", has_text=f"1 of {LONG + 9}").wait_for()
        assert names(page) == ["TypedRag", f"hop{LONG - 1}"]


def test_a_difference_opens_at_what_differs(browser, tmp_path):
    file = tmp_path / "difference.html"
    difference = trace("It flows").compare(trace("It stands", Step("warning", "budget", outputs="full")))
    file.write_text(difference_page(difference, ("one", "two")), encoding="utf-8")
    with reading(browser, file) as page:
        assert page.locator(".answered ins").inner_text().strip() == "stands"
        page.locator(".head a").click()
        assert page.locator(".step.here > summary .name").inner_text() == "retrieve"
        assert page.locator(".only-b > summary .name").inner_text() == "budget"


def test_it_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
