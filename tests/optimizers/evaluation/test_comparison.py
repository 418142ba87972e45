"""Runs side by side."""

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation.comparison import compare
from aspectrag.optimizers.evaluation.run import Run
from aspectrag.optimizers.evaluation.runner import ask_all
from aspectrag.optimizers.evaluation.scoring import score
from aspectrag.programs.baselines.rag import Rag
from evaluation import CALLS, EM, questions, replies, retriever


def made(out, reply=replies, count=12, metrics=(EM,)):
    with dspy.context(lm=scripted_lm(reply)):
        ask_all({"rag": Rag(None, retriever())}, questions(count), out, {"rag": {}}, progress=False)
    run = Run(out / "rag")
    score(run, list(metrics), ["type"], progress=False)
    return run


def right(call):
    number = int(call.inputs["question"].split("number ")[1].rstrip("?"))
    return {"answer": f"Answer {number % 3}.", "citations": []}


def test_differences_are_paired_per_metric_and_per_category(tmp_path):
    rows = compare([made(tmp_path / "a"), made(tmp_path / "b", right)])
    assert [(row.category, row.value) for row in rows] == [("all", "all"), ("type", "even"), ("type", "odd")]
    whole = rows[0]
    assert (whole.column, whole.means[0].n) == ("em", 12)
    assert whole.means[0].mean == pytest.approx(4 / 12)  # "Answer n % 2" is right where n % 6 is 0 or 1
    assert whole.means[1].mean == 1.0
    assert whole.differences[0] is None
    difference = whole.differences[1]
    assert difference is not None
    assert difference.mean == pytest.approx(8 / 12)
    assert difference.low > 0.3
    assert difference.p < 0.01


def test_a_run_compared_with_itself_does_not_differ(tmp_path):
    run = made(tmp_path)
    difference = compare([run, run])[0].differences[1]
    assert difference is not None
    assert (difference.mean, difference.low, difference.high, difference.p) == (0, 0, 0, 1)


def test_only_questions_that_all_were_asked_count(tmp_path):
    rows = compare([made(tmp_path / "a", count=12), made(tmp_path / "b", count=6)])
    assert rows[0].means[0].n == 6


def test_what_cannot_be_compared_is_refused(tmp_path):
    one = made(tmp_path / "a")
    with pytest.raises(AspectragError, match="one run only"):
        compare([one])
    with pytest.raises(AspectragError, match="do not all have f1 \\(they share: em\\)"):
        compare([one, one], ["f1"])
    other = made(tmp_path / "b", metrics=(CALLS,))
    with pytest.raises(AspectragError, match="do not all have any column"):
        compare([one, other])
    asked = [question.copy(question=f"{question.question} Really?") for question in questions(12)]
    with dspy.context(lm=scripted_lm({"answer": "So.", "citations": []})):
        ask_all({"rag": Rag(None, retriever())}, asked, tmp_path / "c", {"rag": {}}, progress=False)
    score(Run(tmp_path / "c" / "rag"), [EM], progress=False)
    with pytest.raises(AspectragError, match="share no question"):
        compare([one, Run(tmp_path / "c" / "rag")])
