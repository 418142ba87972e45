import re

from aspectrag.app.views.report.plots import bars, quality_and_cost
from aspectrag.app.views.report.tables import Line
from aspectrag.optimizers.evaluation.statistics import Mean
from reports import Elements

LOW, HIGH = Mean(0.3, 0.2, 0.45, 12), Mean(0.5, 0.4, 0.6, 12)
CHEAP, DEAR = Mean(800, 700, 900, 12), Mean(3000, 2500, 3800, 12)


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_a_point_per_run_with_its_interval_in_words_too():
    svg = quality_and_cost("f1", ["rag", "typed"], [LOW, HIGH], [CHEAP, DEAR])
    assert {"rag", "typed", "f1", "tokens read and written per question"} <= set(texts(svg))
    assert "<title>f1 against tokens per question</title>" in svg
    assert "rag: 0.300 [0.200, 0.450] at 800 tokens; typed: 0.500 [0.400, 0.600] at 3000 tokens" in svg
    assert 'role="img"' in svg


def test_a_bar_per_category_and_run_but_where_there_is_none():
    lines = [Line("type", "A", "f1", (LOW, None), ()), Line("type", "B", "f1", (LOW, HIGH), ())]
    svg = bars(lines, ["rag", "typed"])
    assert {"type A", "type B", "f1"} <= set(texts(svg))
    assert "type A, rag: 0.300 [0.200, 0.450]; type B, rag: 0.300 [0.200, 0.450]; type B, typed" in svg
    assert svg.count('fill="#0072b2"') == 2
    assert svg.count('fill="#d55e00"') == 1


def test_the_page_styles_it_and_it_loads_nothing():
    page = Elements(quality_and_cost("f1", ["rag"], [LOW], [CHEAP]))
    assert not [tag for tag, _ in page.tags if tag in ("style", "image", "script", "metadata", "a")]
    names = {name for _, attrs in page.tags for name in attrs}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]
    assert all(attrs.get("xlink:href", "#").startswith("#") for _, attrs in page.tags)
    svg = bars([Line("type", "A", "f1", (LOW,), ())], ["rag"])
    assert "#000000" not in svg
    assert "currentColor" in svg


def test_it_is_the_same_every_time():
    lines = [Line("type", "A", "f1", (LOW,), ())]
    assert bars(lines, ["rag"]) == bars(lines, ["rag"])
    assert "20" + "26-" not in bars(lines, ["rag"])


def test_any_text_is_text():
    evil = "</svg><script>alert(1)</script>"
    names = [evil, "_hidden", "$x^2$ a\\$", "", "\u202e\ud83d\uffff\x00", "n" * 500]
    svg = quality_and_cost(evil, names, [LOW] * 6, [CHEAP] * 6)
    assert svg.count("</svg>") == 1
    assert "<script" not in svg
    assert {"_hidden", "$x^2$ a\\$", "n" * 25 + "…"} <= set(texts(svg))
    svg.encode()
    assert "<script" not in bars([Line(evil, evil, evil, (LOW,), ())], [evil])
