"""The page as text: its numbers are those of the runs, and nothing in it can act."""

import base64
import hashlib
import json
import re

import pytest
from aspectrag.app.views.report.page import TEMPLATES, report_page
from aspectrag.optimizers.evaluation.comparison import compare
from aspectrag.optimizers.evaluation.scoring import score
from aspectrag.optimizers.evaluation.statistics import Mean
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.programs.showing.pages import asset
from evaluation import failing
from reports import Elements, better, hostile_run, packs, scored_run


def page_of(*runs, **options):
    return report_page(runs, progress=False, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return scored_run(tmp_path_factory.mktemp("runs"), "plain", failing(0, 1))


@pytest.fixture(scope="module")
def page(run):
    return page_of(run)


def words(html):
    return " ".join(Elements(html).text.split())


def test_the_numbers_of_one_run_are_those_of_its_files(run, page):
    text = words(page)
    for column, mean in run.metrics["metrics"].items():
        assert f'title="{mean["mean"]} over {mean["n"]} questions"' in page
        shown, interval = str(Mean(**mean)).split(" ", 1)
        assert re.search(rf"{column}( [↑↓])? {re.escape(shown)} {re.escape(interval)} n {mean['n']}", text)
    for mean in run.metrics["metrics_of_answered"].values():
        assert f'title="{mean["mean"]} over {mean["n"]} questions"' in page
    assert "answered 7 of 9" in text
    assert "plain: 2 failed q0: " in text
    assert text.count("it fell over") == 2
    assert "benchmark topics · split dev" in text
    assert "− plain" not in text


def test_several_runs_are_compared_with_the_first(run, tmp_path):
    runs = [run, scored_run(tmp_path, "better", better)]
    page = page_of(*runs)
    text = words(page)
    row = next(row for row in compare(runs) if (row.category, row.column) == ("all", "em"))
    change = str(row.differences[1]).split(" ", 1)
    assert f"+{change[0]} {change[1]} n 9" in text
    assert "− plain p" in text
    assert "type even" in text
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])
    assert data["columns"] == ["em", "f1", "tokens", "steps"]
    first, third = data["questions"][0], data["questions"][2]
    assert third["text"] == "q2 what about lodge, number 2? answer 2 answer 0. [1] answer 2. [1]"
    assert third["scores"][0][:2] == [0.0, 0.5]
    assert third["categories"] == ["type: even", "hops: 0"]
    assert first["failed"] == [0]
    assert first["scores"][0] == [0.0, 0.0, None, None]
    assert first["scores"][1][:2] == [1.0, 1.0]


def test_the_same_runs_give_the_same_page(run, page):
    assert page_of(run) == page


def test_nothing_that_was_said_becomes_markup_and_nothing_is_loaded(tmp_path):
    page = page_of(hostile_run(tmp_path))
    for html in (page, *packs(page).values()):
        html.encode()
        assert "\u202e" not in html
        assert "abcdef123456" not in html
        elements = Elements(html)
        assert not [tag for tag, _ in elements.tags if tag in ("img", "iframe", "link", "object", "embed", "base")]
        attributes = [(name, value) for _, attrs in elements.tags for name, value in attrs.items()]
        assert not [name for name, _ in attributes if name.startswith("on") or name in ("src", "style", "srcset")]
        assert all(value.startswith("#") for name, value in attributes if name in ("href", "xlink:href", "action"))
    scripts = [attrs.get("type") for tag, attrs in Elements(page).tags if tag == "script"]
    assert scripts == ["application/json", *["text/plain"] * len(packs(page)), None]
    assert "<img src=x onerror=alert(1)>" in Elements(page).text
    assert "<img src=x onerror=alert(1)>" in Elements(packs(page)["q0r0"]).text
    data = re.search(r'id="data">(.*?)</script>', page)[1]
    assert "<" not in data
    assert json.loads(data)["questions"][0]["text"].startswith("</script><script>")


def test_the_policy_allows_its_own_script_and_style_alone(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]

    def digest(text):
        return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_a_page_can_be_kept_small(run):
    page = page_of(run, limit=2, traces=False)
    assert list(packs(page)) == ["q0", "q0r0", "q1", "q1r0"]
    assert "The first 2 of 9 questions" in page
    assert f'title="{run.metrics["metrics"]["em"]["mean"]} over 9 questions"' in page


def test_a_classifier_has_its_confusion_matrix(tmp_path):
    run = scored_run(tmp_path)
    kind = Metric("kind", "", lambda *_: 1.0, labels=lambda asked, _: (asked.type, "odd") if asked.type else None)
    score(run, [kind], progress=False)
    text = words(page_of(run))
    # Three questions are even, three odd, and all were taken for odd ones.
    assert "rag: macro-F1 0.333 over 2 classes expected as even as odd precision recall F1" in text
    assert "even 0 3 0.000 0.000 0.000 odd 0 3 0.500 1.000 0.667" in text


def test_a_damaged_trace_is_said_in_its_place_and_the_others_are_shown(tmp_path):
    run = scored_run(tmp_path)
    whole = packs(page_of(run))
    next((run.path / "traces").iterdir()).write_text("{}")
    damaged = packs(page_of(run))
    assert sum("is no trace, or damaged" in text for text in damaged.values()) == 1
    assert len(damaged) == len(whole) - 1


def test_its_style_and_script_load_nothing_end_nothing_and_run_no_text():
    for name in ("report.css", "report.js"):
        assert not any(word in asset(name, TEMPLATES) for word in ("</", "url(", "@import", "://"))
    script = asset("report.js", TEMPLATES)
    assert not any(
        word in script for word in ("innerHTML", "outerHTML", "eval(", "Function(", "document.write", "fetch(")
    )
