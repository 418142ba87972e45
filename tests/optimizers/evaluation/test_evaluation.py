"""What an evaluation is given: metrics in any form, folders as text."""

import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation import evaluate
from aspectrag.optimizers.evaluation.run import Run, runs_of
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from evaluation import questions, replies, retriever


def test_a_function_is_a_metric_and_a_folder_may_be_text(tmp_path):
    def cites(example, prediction, trace=None):
        return "[1]" in prediction.answer

    given = {"programs": {"rag": Rag(AnswerConfig(k=2), retriever())}, "questions": questions(), "out": str(tmp_path)}
    (made,) = evaluate(**given, metrics=[cites, "em"], lm=scripted_lm(replies), progress=False)
    assert made.metrics["metrics"]["cites"]["mean"] == 1.0
    assert [run.path for run in runs_of(str(tmp_path))] == [Run(str(tmp_path / "rag")).path] == [made.path]
    with pytest.raises(AspectragError, match=r"the metric short takes \(example\)"):
        evaluate(**given, metrics=[short], lm=scripted_lm(replies), progress=False)


def short(example):
    return 1.0
