"""Students that are whole methods, or rankers."""

import json
from typing import Any

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.compiling import compile_program
from aspectrag.optimizers.compiling.examples import Examples
from aspectrag.optimizers.compiling.students import Meter, MethodStudent, StageStudent
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.optimizers.metrics.stages import ranking_at
from aspectrag.programs.rankers.pointer import PointerRanker
from aspectrag.programs.rich_rag import RichRag, RichRagConfig
from aspectrag.programs.saved import read_manifest
from aspectrag.programs.typed_rag import TypedRag, TypedRagConfig
from aspectrag.signatures import RouteQuestion
from faceted import ASPECTS, WordEncoder, passages
from faceted import examples as faceted
from fakes import ListRetriever, by_fields
from learning import HINT, calls_of, examples, model, program
from tuned import save_tuned

SOLVED = Metric("solved", "the answer holds the word", lambda e, p: float("solved" in (p.get("answer") or "")))


def questions(start, count):
    return [
        dspy.Example(question=f"Why is coal number {n} cheap?").with_inputs("question")
        for n in range(start, start + count)
    ]


def planner(call):
    """Finds good sub-questions once it has the hint; the answer shows whether they were good."""
    if "queries" in call.fields:
        return {"queries": ["coal solved?", "coal cheap?"] if HINT in call.prompt else ["coal?", "dirty?"]}
    if "answer" in call.fields:
        return {
            "answer": "solved [1]" if "solved" in call.prompt.rsplit("question", 1)[0] else "unknown [1]",
            "citations": [1],
        }
    if "type" in call.fields:
        raise AssertionError("the type is known")
    return dict.fromkeys(call.fields, HINT)


def test_a_stage_tuned_by_what_its_method_makes_of_it(tmp_path):
    start: Any = TypedRag(TypedRagConfig(max_attempts=1), ListRetriever())
    lm = model(planner)
    done: Any = compile_program(
        start, Examples(questions(0, 6), questions(10, 4), questions(20, 4)), SOLVED, tmp_path / "out", method="typed",
        stage="reason_queries", by="gepa", whole=True, known={"classify": {"type": "REASON"}}, lm=lm, progress=False,
        workers=2,
    )  # fmt: skip
    assert (done.report.uncompiled.score.mean, done.report.compiled.score.mean) == (0.0, 1.0)
    assert done.program.reason_queries.signature.instructions == HINT
    assert done.program.classify.signature.instructions == start.classify.signature.instructions
    assert isinstance(done.program.classify, dspy.Predict), "the stand-in of a known stage is not kept"
    loaded = TypedRag.load(tmp_path / "out", ListRetriever())
    assert loaded.reason_queries.signature.instructions == HINT


def test_a_whole_method_gets_demos_for_all_its_stages(tmp_path):
    reply = by_fields(answer="solved [1]", citations=[1], type="REASON", queries=["coal?", "cheap?"])
    start = TypedRag(TypedRagConfig(), ListRetriever())
    done: Any = compile_program(
        start, Examples(questions(0, 6), [], questions(20, 4)), SOLVED, tmp_path / "out", method="typed",
        by="bootstrap", lm=model(reply), progress=False, keep="compiled",
    )  # fmt: skip
    demos = {name: len(predictor.demos) for name, predictor in done.program.named_predictors()}
    assert demos["classify"] == demos["reason_queries"] == demos["aggregate"] == 4
    assert demos["plan_debate"] == 0
    assert set(done.report.to_dict()["stages"]) == set(demos)


def test_a_copy_has_signatures_of_its_own():
    student: Any = StageStudent(program(), ["route"], Meter())
    copy: Any = student.deepcopy()
    copy.route.signature.instructions = "changed"
    assert student.route.signature.instructions == RouteQuestion.instructions != "changed"
    assert copy.program.route is copy.route
    assert [name for name, _ in copy.named_predictors()] == ["route"]


def test_fallbacks_of_a_tuned_stage_are_counted():
    meter = Meter()
    student = MethodStudent(program(), ["route"], meter)
    with dspy.context(lm=model(by_fields(route="nowhere", answer="a", relevant=True, citations=[]))):
        student(question="What is coal?")
    assert (meter.runs, meter.unreadable) == (1, 1)


def ranked(count, start=0):
    return [
        dspy.Example(question=e.question, aspects=list(e.aspects), sub_answers=list(e.sub_answers), id=e.id)
        .with_inputs("question", "aspects") for e in faceted()[start : start + count]
    ]  # fmt: skip


def test_the_ranker_that_is_a_language_model(tmp_path):
    def reply(call):
        if "ranking" not in call.fields:
            return dict.fromkeys(call.fields, HINT)
        shown = json.loads(call.inputs["passages"])
        good = [each["number"] for each in shown if "alpha" in each["text"]]
        rest = [each["number"] for each in shown if each["number"] not in good]
        return {"ranking": good + rest if HINT in call.prompt else rest + good}

    start = RichRag(RichRagConfig(k=3, ranker="lm"), ListRetriever(passages()))
    done: Any = compile_program(
        start, Examples(ranked(3), ranked(2, 3), ranked(3, 5)), ranking_at(3), tmp_path / "out", method="rich",
        stage="rank", by="gepa", lm=model(reply), progress=False, workers=2,
    )  # fmt: skip
    assert done.report.compiled.score.mean > done.report.uncompiled.score.mean
    assert done.program.rank.signature.instructions == HINT


def test_weights_of_the_pointer_ranker(tmp_path, monkeypatch):
    from aspectrag.optimizers.ranker import sft
    from aspectrag.programs.rankers import pointer

    monkeypatch.setattr(sft, "SentenceEncoder", lambda *_: WordEncoder())
    monkeypatch.setattr(sft, "fetch", lambda *_, **__: None)
    monkeypatch.setattr(pointer, "_encoder", lambda *_: WordEncoder())
    lm = model()
    start = RichRag(RichRagConfig(k=3, ranker="retrieval"), ListRetriever(passages()))
    done: Any = compile_program(
        start, Examples(ranked(4), ranked(2, 4), ranked(4, 6)), ranking_at(3), tmp_path / "out", method="rich",
        by="sft", arguments={"epochs": 4}, lm=lm, progress=False, keep="compiled",
    )  # fmt: skip
    assert calls_of(lm) == 0
    assert isinstance(done.program.ranker, PointerRanker)
    loaded = RichRag.load(tmp_path / "out", start.retriever)
    assert isinstance(loaded.ranker, PointerRanker)
    assert loaded.tuning["ranker"] == read_manifest(tmp_path / "out")["meta"]["ranker"]
    assert loaded.tuning["ranker"]["optimizer"] == "sft"
    assert start.ranker is None
    assert len(ASPECTS) == 3


def test_a_saved_program_has_its_ranker_as_soon_as_it_is_one(tmp_path, monkeypatch):
    from aspectrag.programs.rankers.network import PointerNetwork

    program = RichRag(RichRagConfig(), ListRetriever(), PointerRanker(PointerNetwork(32, 16, 2, 1), WordEncoder()))

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(PointerRanker, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            program.save(tmp_path / "p")
    assert not (tmp_path / "p" / "manifest.json").exists()
    program.save(tmp_path / "state.json")
    assert (tmp_path / "state.json").is_file()


def test_what_a_ranker_learnt_from_is_told_after_a_stage_was_tuned_too(tmp_path):
    program = RichRag(RichRagConfig(), ListRetriever())
    program.save(tmp_path / "first", meta={"lm": "a/b", "ranker": {"optimizer": "sft"}})
    save_tuned(tmp_path / "other", "write", method="rich")
    loaded = RichRag.load(tmp_path / "first", ListRetriever())
    loaded.adopt(tmp_path / "other")
    assert loaded.tuning["ranker"] == {"optimizer": "sft"}
    assert set(loaded.tuning["stages"]) == {"write"}


def test_a_ranker_is_trained_on_nothing_but_a_method_that_ranks(tmp_path):
    with pytest.raises(AspectragError, match="no list-wise ranker"):
        compile_program(
            program(), examples(), ranking_at(3), tmp_path / "out", method="han", by="sft", lm=model(), progress=False
        )
