"""Runs, comparisons and diagnosed runs in notebooks."""

import dspy
import pytest
from aspectrag.app.views.report.page import report_page
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation import compare, evaluate
from aspectrag.optimizers.evaluation.diagnosing import Diagnosed, Wrong
from aspectrag.optimizers.evaluation.diagnosis import Diagnosis
from aspectrag.optimizers.evaluation.run import Run, runs_of
from aspectrag.optimizers.evaluation.runner import ask_all
from aspectrag.optimizers.evaluation.swapping import Swapped
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from evaluation import EM, failing, questions, retriever

BAD = "<script>alert(1)</script>"


@pytest.fixture
def runs(tmp_path):
    programs = {name: Rag(AnswerConfig(k=2), retriever()) for name in ("one", "two")}
    lm = scripted_lm(failing(1))
    return evaluate(programs, questions(6), tmp_path, metrics=[EM], lm=lm, progress=False)


def test_runs_show_their_means_categories_and_failures(runs):
    for html in (runs._repr_html_(), runs[0]._repr_html_(), runs_of(runs[0].path.parent)._repr_html_()):
        assert "<td>5 of 6</td>" in html
        assert "<summary>em by category</summary>" in html
        assert "it fell over" in html
        assert "as metrics_of_answered" in html
    assert '<th scope="col">two</th>' in runs._repr_html_()
    assert "small, recompiled (route)" in Swapped("small", ("route",), runs[0])._repr_html_()


def test_a_run_that_is_not_scored_says_so(tmp_path):
    with dspy.context(lm=scripted_lm({"answer": "So.", "citations": [1]})):
        asked = [question("q", BAD, ["so"])]
        ask_all({"rag": Rag(None, retriever())}, asked, tmp_path, {"rag": {}}, progress=False)
    html = Run(tmp_path / "rag")._repr_html_()
    assert "metrics.json cannot be read" in html


def test_a_comparison_is_a_table_and_a_record(runs):
    found = compare(runs)
    html = found._repr_html_()
    assert "<summary>by type</summary>" in html
    assert "<td>+0.000 [0.000, 0.000]</td>" in html
    record = found.to_dict()
    assert record["runs"] == [str(run.path) for run in runs]
    first = record["rows"][0]
    assert (first["category"], first["metric"], first["differences"][0]) == ("all", "em", None)
    assert set(first["differences"][1]) == {"mean", "low", "high", "n", "p"}


def test_a_diagnosed_run_lists_what_is_wrong_as_text(runs):
    wrong = Wrong("q1", BAD, 0.0, {"type": BAD}, Diagnosis("retrieval", BAD), (), None)
    html = Diagnosed(runs[0], None, 1.0, (wrong,), 5, (), 0)._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 3  # question, reason, category
    assert "<td>1 (100%)</td>" in html
    assert "no trace" in html


def test_a_cost_that_was_asked_for_and_has_no_price_is_unknown(tmp_path):
    lm, programs = scripted_lm(failing()), {name: Rag(AnswerConfig(k=2), retriever()) for name in ("one", "two")}
    runs = evaluate(programs, questions(2), tmp_path, metrics=["em", "cost"], lm=lm, progress=False)
    assert "<td>cost</td><td>unknown</td><td>unknown</td>" in runs._repr_html_()
    assert compare(runs).table().rows[-1] == ("cost", "", "unknown", "unknown", "", "")
    assert '<td class="none">unknown</td>' in report_page(runs, traces=False, progress=False)
