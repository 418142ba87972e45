"""The page in a browser: opened from disk, used as a reader would, quiet all the while."""

import pytest
from aspectrag.app.views.report.page import report_page
from aspectrag.optimizers.evaluation.folder import dumped, trace_name
from aspectrag.programs.trace import Step, Trace
from aspectrag.whole import write
from browser import launched, needs_chromium, reading
from evaluation import failing
from reports import better, hostile_run, scored_run

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = needs_chromium
LONG = 1_000


@pytest.fixture(scope="module")
def browser():
    with launched(playwright) as running:
        yield running


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs")
    runs = [scored_run(out, "plain", failing(2)), scored_run(out, "better", better)]
    steps = [Step("module", f"hop{n}", {"question": "Why?"}, {"answer": "<b>So.</b>"}) for n in range(LONG)]
    write(
        runs[0].path / "traces" / trace_name("q4"), dumped(Trace([Step("program", "Long", children=steps)]).to_dict())
    )
    page = out / "report.html"
    write(page, report_page(runs, progress=False))
    return page


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory):
    out = tmp_path_factory.mktemp("hostile")
    write(out / "report.html", report_page([hostile_run(out)], progress=False))
    return out / "report.html"


@pytest.fixture
def page(browser, file):
    with reading(browser, file) as opened:
        yield opened


def visible(page):
    return page.locator(".question:visible").evaluate_all("all => all.map(each => each.id)")


def test_the_tables_and_plots_are_those_of_the_chosen_metric(page):
    assert page.locator("#scores table.numbers tbody tr").first.is_visible()
    assert page.locator(".metric:visible").count() == 1
    assert page.locator(".metric:visible svg").count() == 2
    page.select_option("#metric", label="tokens")
    assert page.locator(".metric:visible svg title").all_text_contents() == ["tokens by category"]
    assert page.locator(".metric:visible th", has_text="type even").is_visible()


def test_a_question_opens_with_its_answers_passages_and_trace(page):
    question = page.locator("#q1")
    question.locator("summary").first.click()
    question.locator(".answer").nth(1).wait_for()
    assert "Answer 1." in question.locator(".answer").first.inner_text()
    assert not question.locator("#q1r0p1 p").is_visible()
    question.locator(".answer a").first.click()
    assert question.locator("#q1r0p1 p").is_visible()
    question.locator(".trace > summary").first.click()
    question.locator(".step.program").first.wait_for()
    question.locator(".step.module > summary").first.click()
    question.locator(".part.prompt > summary").first.click()
    assert "What about" in question.locator(".part.prompt .held").first.inner_text()


def test_the_list_is_filtered_and_sorted(page):
    assert visible(page) == [f"q{n}" for n in range(9)]
    page.fill("#text", "LODGE number")
    assert visible(page) == ["q2", "q7"]
    assert page.locator("#count").inner_text() == "2 of 9 questions"
    page.check("#failed")
    assert visible(page) == ["q2"]
    page.select_option("#run", label="better")
    assert visible(page) == []
    page.fill("#text", "")
    page.uncheck("#failed")
    page.select_option("#run", label="plain")
    page.select_option("#category", label="type: odd")
    assert visible(page) == ["q1", "q4", "q7"]
    page.select_option("#score", label="em")
    page.select_option("#order", label="lowest score first")
    assert visible(page) == ["q4", "q1", "q7"]
    page.select_option("#order", label="highest score first")
    assert visible(page) == ["q1", "q7", "q4"]
    assert page.locator("#q4 .score").inner_text() == "plain 0 · better 1"


def test_a_failed_question_is_a_click_away(page):
    page.fill("#text", "nothing has these words")
    page.locator(".failures > summary").click()
    page.locator(".failures a").click()
    page.locator("#q2 .answer .error").wait_for()
    assert "it fell over" in page.locator("#q2 .answer .error").first.inner_text()


def test_a_trace_of_a_thousand_steps_opens(page):
    page.locator("#q4 > summary").click()
    page.locator("#q4 .trace > summary").first.click()
    page.locator("#q4 .step.module").last.wait_for()
    assert page.locator("#q4r0t-pack").count() == 1
    assert page.locator("#q4 .trace").first.locator(".step.module").count() == LONG
    assert "<b>So.</b>" in page.locator("#q4 .step.module summary .gist").first.inner_text()


def test_nothing_that_was_said_acts(browser, hostile_file):
    with reading(browser, hostile_file) as page:
        for number in range(2):
            page.locator(f"#q{number} > summary").click()
            page.locator(f"#q{number} .trace > summary").click()
            page.locator(f"#q{number} .step.program").wait_for()
        assert page.locator("img").count() == 0
        assert "<img src=x onerror=alert(1)>" in page.locator("#q0 .answer").inner_text()
        assert "<img src=x onerror=alert(1)>" in page.locator("#q1 .answer .error").first.inner_text()


def test_it_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_without_scripts_every_metric_is_there_to_read(browser, file):
    with reading(browser, file, java_script_enabled=False) as page:
        assert page.locator(".metric:visible").count() == page.locator(".metric").count() > 1
        assert not page.locator("#metric").is_visible()
