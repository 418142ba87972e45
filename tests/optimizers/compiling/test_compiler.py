"""Compiling from end to end, with a model that learns from demos and from a hint."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import dspy
import pytest
from aspectrag.data.index.retriever import NoPassages
from aspectrag.errors import AspectragError
from aspectrag.optimizers.compiling import compile_program
from aspectrag.optimizers.compiling.examples import Examples
from aspectrag.optimizers.compiling.optimizing import NothingChangedError
from aspectrag.optimizers.compiling.report import Report
from aspectrag.optimizers.compiling.teleprompters import OPTIMIZERS, Size
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from aspectrag.programs.saved import read_manifest
from aspectrag.signatures import RouteQuestion
from dspy.utils.parallelizer import ParallelExecutor
from fakes import ListRetriever
from learning import HINT, LABEL, calls_of, examples, learner, model, program, routed

PROMPTS = [name for name, each in OPTIMIZERS.items() if each.learns == "prompts"]


@pytest.fixture
def compiled(tmp_path):
    def call(by="bootstrap", sets=None, metric=LABEL, lm=None, out=tmp_path / "out", start=None, **options):
        options = {"method": "han", "stage": "route", "workers": 4, "progress": False, **options}
        return compile_program(start or program(), sets or examples(), metric, out, by=by, lm=lm or model(), **options)

    return call


def outcome(work):
    """What came out, or why nothing did."""
    try:
        return work(), ""
    except AspectragError as refused:
        return None, str(refused)


def sampled(call):
    """As the learner, but what is sampled is often right: runs of one question differ."""
    if "route" in call.fields and call.request.config.temperature == 1.0 and call.index % 2:
        return {"route": call.inputs["question"].split()[-1]}
    return learner(call)


@pytest.mark.parametrize("by", PROMPTS)
def test_every_optimizer_teaches_a_stage(by, compiled, tmp_path):
    before = RouteQuestion.instructions
    start: Any = program()
    # SIMBA learns from runs that differ: its model samples.
    lm = model(sampled) if by == "simba" else model()
    done = compiled(by, lm=lm, start=start, workers=1 if by == "simba" else 4)
    report = done.report
    assert report.uncompiled.score.mean == 0.25
    assert report.compiled.score.mean == 1.0
    assert (report.difference.mean, report.kept) == (0.75, "compiled")
    assert report.compiled.macro_f1.mean == 1.0
    assert report.stages["route"].changed
    assert RouteQuestion.instructions == before, "the signature of all programs was written into"
    assert not start.route.demos
    loaded = HanRag.load(tmp_path / "out", ListRetriever())
    assert loaded.dump_state()["route"] == done.program.dump_state()["route"]
    for each in (done.program, loaded):
        with dspy.context(lm=model()):
            assert each(question="Which way to go: complex").route == "complex"
    assert sorted(file.name for file in (tmp_path / "out").iterdir() if file.name != ".lock") == [
        "config.json", "manifest.json", "optimizer.log", "report.json", "state.json",
    ]  # fmt: skip
    record = read_manifest(tmp_path / "out")["meta"]
    assert record["lm"] == "scripted/learner"
    assert record["stages"]["route"]["compiled"]["mean"] == 1.0


@pytest.mark.parametrize("by", PROMPTS)
def test_an_optimizer_runs_no_more_than_it_was_estimated_to(by, compiled):
    told = []
    lm = model(sampled) if by == "simba" else model()
    agree = lambda estimate: told.append(estimate) or True  # noqa: E731
    report = compiled(by, lm=lm, agree=agree, workers=1 if by == "simba" else 4).report
    assert 0 < report.spent["runs"] - 3 <= told[0].runs
    assert report.spent["lm_calls"] == calls_of(lm)


@pytest.mark.parametrize("by", PROMPTS)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_examples_give_a_report_or_say_what_is_missing(by, count, compiled, tmp_path):
    report, refused = outcome(lambda: compiled(by, sets=examples(count, count, count)).report)
    if report is None:
        assert any(told in refused for told in ("changed nothing", "needed", "nothing tells"))
        assert not (tmp_path / "out" / "manifest.json").exists()
    else:
        assert report.examples == {"train": count, "val": count, "test": count}


@pytest.mark.parametrize("by", PROMPTS)
def test_a_model_whose_output_never_parses_leaves_nothing_and_says_so(by, compiled, tmp_path):
    # Labelled demos are demos all the same; nothing scores with them, nor without.
    def reply(call):
        return "no format at all" if "route" in call.fields else learner(call)

    report, refused = outcome(lambda: compiled(by, lm=model(reply)).report)
    assert report is None
    assert "could not be read" in refused or "every test example scores 0 by label" in refused
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_metric_that_raises_is_named_before_anything_is_spent(compiled, tmp_path):
    lm = model()

    def score(example, prediction):
        raise ZeroDivisionError("of nothing")

    with pytest.raises(AspectragError, match=r"metric broken cannot score this \(ZeroDivisionError: of nothing\)"):
        compiled(metric=Metric("broken", "fails", score), lm=lm)
    assert calls_of(lm) <= 3
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_metric_that_raises_now_and_then_is_counted(compiled):
    def score(example, prediction):
        if int(example.question.split()[1]) % 5 == 3:
            raise ValueError("not this one")
        return LABEL.score(example, prediction)

    report = compiled("random-search", metric=Metric("moody", "fails at times", score)).report
    assert list(report.errors) == ["ValueError: not this one"]
    assert report.kept == "compiled"


@pytest.mark.parametrize("by", PROMPTS)
def test_stopped_and_begun_again_no_call_is_made_twice(by, compiled, tmp_path):
    reply = sampled if by == "simba" else learner
    whole = model(reply)
    expected = compiled(by, lm=whole, out=tmp_path / "whole", workers=1).report
    for stop in (2, 11, calls_of(whole) - 1):
        seen = {"count": 0}

        def stopping(call, stop=stop, seen=seen):
            seen["count"] += 1
            if seen["count"] == stop:
                raise KeyboardInterrupt
            return reply(call)

        lm, out = model(stopping), tmp_path / f"stopped{stop}"
        with pytest.raises(KeyboardInterrupt):
            compiled(by, lm=lm, out=out, workers=1)
        assert not (out / "manifest.json").exists()
        if by == "simba":  # what it samples depends on how often the model was asked
            continue
        report = compiled(by, lm=lm, out=out, workers=1).report
        assert report.compiled.scores == expected.compiled.scores
        assert calls_of(lm) == calls_of(whole) + 1, "only the interrupted call is made again"


def test_a_server_that_goes_away_is_the_error_and_nothing_is_lost(compiled, tmp_path):
    gone = {"after": 30}

    def reply(call):
        gone["after"] -= 1
        return dspy.LMTransportError("connection refused") if gone["after"] < 0 else learner(call)

    lm = model(reply)
    with pytest.raises(dspy.LMError):
        compiled("random-search", lm=lm, workers=1)
    assert not (tmp_path / "out" / "manifest.json").exists()
    gone["after"] = 10_000
    assert compiled("random-search", lm=lm, workers=1).report.kept == "compiled"


@pytest.mark.parametrize("by", ["mipro", "gepa", "simba", "rules"])
def test_a_writer_of_instructions_that_is_out_of_reach_is_the_error(by, compiled):
    writer = model(lambda call: dspy.LMAuthError("wrong key"), "scripted/writer")
    with pytest.raises(dspy.LMAuthError):
        compiled(by, lm=model(sampled), prompt=writer, workers=1)
    assert calls_of(writer) < 5, "it was asked on and on"


def test_once_a_model_is_gone_no_other_run_asks_it(compiled):
    def reply(call):
        return dspy.LMTransportError("connection refused") if call.index >= 30 else learner(call)

    lm = model(reply)
    with pytest.raises(dspy.LMTransportError):
        compiled("random-search", lm=lm, workers=1)
    assert calls_of(lm) == 31


def test_a_question_that_the_server_refuses_fails_alone(compiled):
    def reply(call):
        refused = call.inputs.get("question", "").startswith(("Question 3 ", "Question 201 "))
        return dspy.LMInvalidRequestError("no such thing here") if refused else learner(call)

    report = compiled("random-search", lm=model(reply)).report
    assert report.compiled.failures == {1: "LMInvalidRequestError: no such thing here"}
    assert Report.from_dict(report.to_dict()).compiled == report.compiled
    with pytest.raises(AspectragError, match=r"is damaged \(compiled.scores\): compile it again"):
        Report.from_dict({**report.to_dict(), "compiled": {**report.compiled.to_dict(), "scores": 3}})
    assert report.kept == "compiled"


def test_a_slow_run_is_not_begun_again_beside_itself(compiled, monkeypatch):
    init = ParallelExecutor.__init__

    def hasty(self, *arguments, **options):
        init(self, *arguments, **options)
        self.timeout = 0.2

    def reply(call):
        if "Question 101 " in call.inputs.get("question", ""):
            time.sleep(1.5)  # DSPy looks for those that are late once a second
        return learner(call)

    monkeypatch.setattr(ParallelExecutor, "__init__", hasty)
    lm = model(reply)
    compiled("random-search", sets=examples(4, 2, 2), lm=lm, arguments={"num_candidate_programs": 1})
    asked = [(call.prompt, call.request.config.temperature) for call in lm.engine.calls]
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("by", PROMPTS)
@pytest.mark.parametrize("said", ["sk-abcdef1234567890", "of-the-environment-1234"])
def test_no_file_but_the_prompts_holds_a_key_that_a_server_repeats(by, said, compiled, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "of-the-environment-1234")

    def reply(call):
        refused = call.inputs.get("question", "").startswith(("Question 3 ", "Question 103 ", "Question 203 "))
        return dspy.LMInvalidRequestError(f"no such key: {said}") if refused else sampled(call)

    outcome(lambda: compiled(by, lm=model(reply), workers=1))
    files = [file for file in (tmp_path / "out").iterdir() if file.is_file()]
    assert files
    assert not [file.name for file in files if said in file.read_text()]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), "much"])
def test_a_score_that_is_no_number_is_refused(score, compiled):
    with pytest.raises(AspectragError, match="cannot score this"):
        compiled(metric=Metric("odd", "", lambda e, p: score))


def test_a_metric_that_says_nothing_of_any_example(compiled):
    with pytest.raises(AspectragError, match="the metric silent says nothing of any example"):
        compiled(metric=Metric("silent", "", lambda e, p: None))


def test_where_nothing_scores_it_is_said_before_tuning_and_refused_after(compiled, tmp_path, caplog):
    with pytest.raises(NothingChangedError, match="nothing tells the two programs apart: every test example scores 0"):
        compiled("labeled", metric=Metric("none", "", lambda e, p: 0.0), keep="compiled")
    assert "every test example scores 0 by none" in caplog.text
    assert not (tmp_path / "out" / "manifest.json").exists()
    caplog.clear()
    better = Metric("faults", "", lambda e, p: 0.0, better="lower")
    assert compiled("labeled", metric=better, out=tmp_path / "faultless").report.kept == "uncompiled"
    assert not caplog.text


def test_what_dspy_calls_a_metric_is_one(compiled, tmp_path):
    def right(example, prediction, trace=None):
        return example.route == prediction.route

    report = compiled("labeled", metric=right).report
    assert (report.metric, report.uncompiled.score.mean, report.compiled.score.mean) == ("right", 0.25, 1.0)
    with pytest.raises(AspectragError, match="is no metric"):
        compiled("labeled", metric=3, out=tmp_path / "second")


def test_a_program_whose_demos_stay_as_they_were_was_not_tuned(compiled, tmp_path):
    start = compiled("labeled").program
    with pytest.raises(NothingChangedError, match="gepa changed nothing"):
        compiled("gepa", start=start, keep="compiled", out=tmp_path / "second")


def test_a_folder_that_was_left_while_its_first_file_was_written(compiled, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "compiling.json.part").write_text('{"tar')
    assert compiled().report.kept == "compiled"


@pytest.mark.parametrize(
    ("by", "arguments"),
    [
        ("gepa", {"reflection_minibatch_size": 1000}),
        ("gepa", {"max_metric_calls": 20, "reflection_minibatch_size": 10}),
        ("mipro", {"max_bootstrapped_demos": 0, "max_labeled_demos": 0}),
        ("bootstrap", {"max_rounds": 3, "max_labeled_demos": 0}),
    ],
)
def test_arguments_keep_to_the_estimate_too(by, arguments, compiled):
    told = []
    done, _ = outcome(lambda: compiled(by, arguments=arguments, agree=lambda estimate: told.append(estimate) or True))
    assert done
    assert done.report.spent["runs"] - 3 <= told[0].runs


def test_an_argument_that_was_given_stays_within_a_budget(compiled):
    report = compiled("gepa", budget=500, arguments={"max_metric_calls": 60}).report
    assert report.arguments["max_metric_calls"] == 60


def test_a_teacher_makes_the_demos(compiled, tmp_path):
    def blind(call):
        taught = call.prompt.count("[[ ## route ## ]]\n") > 3
        return learner(call) if taught else {"route": "compound"}

    def knows(call):
        return {"route": call.inputs["question"].split()[-1]}

    arguments = {"max_labeled_demos": 0}
    teacher = model(knows, "scripted/teacher")
    alone = compiled(lm=model(blind), arguments=arguments).report
    taught = compiled(lm=model(blind), arguments=arguments, teacher=teacher, out=tmp_path / "taught").report
    assert alone.stages["route"].demos < taught.stages["route"].demos == 4
    assert calls_of(teacher) > 0
    assert taught.models == {"lm": "scripted/learner", "teacher": "scripted/teacher"}


def test_what_is_no_better_is_not_kept_unless_asked_for(compiled, tmp_path):
    lm = model(lambda call: {"route": "compound"} if "route" in call.fields else dict.fromkeys(call.fields, HINT))
    report = compiled(lm=lm).report
    assert (report.kept, report.difference.mean) == ("uncompiled", 0.0)
    assert not HanRag.load(tmp_path / "out", ListRetriever()).route.demos
    assert read_manifest(tmp_path / "out")["meta"]["stages"] == {}
    kept = compiled(lm=lm, keep="compiled", out=tmp_path / "kept")
    assert kept.report.kept == "compiled"
    assert kept.program.route.demos


def test_less_is_better_where_the_metric_says_so(compiled):
    missed = Metric("missed", "", lambda e, p: float(not LABEL.score(e, p)), better="lower")
    report = compiled("labeled", metric=missed).report
    assert (report.uncompiled.score.mean, report.compiled.score.mean, report.kept) == (0.75, 0.0, "compiled")


def test_nobody_agreed(compiled):
    lm = model()
    with pytest.raises(AspectragError, match="not begun"):
        compiled(lm=lm, agree=lambda estimate: False)
    assert calls_of(lm) == 3


def test_stages_tuned_one_after_the_other_stay(compiled, tmp_path):
    compiled(out=tmp_path / "first")

    def reply(call):
        return {"verdict": "end"} if "verdict" in call.fields else learner(call)

    def found(numbers):
        return [
            dspy.Example(question=f"q{n}", found=[{"question": "a", "answer": str(n)}], verdict="end")
            .with_inputs("question", "found") for n in numbers
        ]  # fmt: skip

    sets = Examples(found(range(4)), found(range(10, 14)), found(range(20, 24)))
    label = Metric("label", "", lambda e, p: float(e.verdict == p.get("verdict")))
    start = HanRag.load(tmp_path / "first", ListRetriever())
    second = compiled(
        "labeled", sets=sets, metric=label, lm=model(reply, "scripted/second"), stage="judge_ending", start=start,
        keep="compiled", out=tmp_path / "second",
    )  # fmt: skip
    assert second.program.route.demos
    assert {demo["found"][0]["answer"] for demo in second.program.judge_ending.demos} == set("0123")
    told = read_manifest(tmp_path / "second")["meta"]["stages"]
    assert {stage: each["lm"] for stage, each in told.items()} == {
        "route": "scripted/learner", "judge_ending": "scripted/second",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (Examples([], routed(2, 100), routed(2, 200)), "0 train examples, at least 1"),
        (Examples(routed(4), routed(2, 100), []), "0 test examples"),
        (Examples(routed(4), routed(2, 100), routed(2, 2)), "train and test examples share 2 of their inputs"),
        (
            Examples(
                routed(4),
                [],
                [dspy.Example(question="question 2 GOES compound?", route="compound").with_inputs("question")],
            ),
            "share 1 of their inputs, such as {'question': 'Question 2 goes compound'}",
        ),
        (Examples([dspy.Example(question="q", route="complex")], [], routed(2, 200)), "has the inputs \\(none\\)"),
        (
            Examples([dspy.Example(question="q", route="circular").with_inputs("question")], [], routed(2, 200)),
            "route does not fit the stage",
        ),
    ],
)
def test_examples_that_cannot_be_used(sets, message, compiled, tmp_path):
    lm = model()
    with pytest.raises(AspectragError, match=message):
        compiled(sets=sets, lm=lm)
    assert calls_of(lm) == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("by", ["labeled", "bootstrap", "random-search", "mipro", "rules"])
def test_examples_without_an_output_are_no_demos(by, compiled, tmp_path):
    bare = [dspy.Example(question=f"Question {n} goes nowhere").with_inputs("question") for n in range(50, 53)]
    bare.append(bare.pop().copy(route=None))
    sets = Examples([*routed(9), *bare[:2]], routed(8, 100), routed(8, 200))
    lm = model()
    with pytest.raises(AspectragError, match="2 of 11 train examples have no route, so they are no demos"):
        compiled(by, sets=sets, lm=lm)
    assert calls_of(lm) == 0
    assert not (tmp_path / "out").exists()
    if by == "bootstrap":
        report = compiled(by, sets=sets, lm=lm, arguments={"max_labeled_demos": 0}, threshold=0.0).report
        assert report.stages["route"].demos


def test_questions_are_no_demos_of_a_method_even_if_asked_for(compiled):
    lm = model()
    with pytest.raises(AspectragError, match="12 of 12 train examples have no sub_questions"):
        compiled(stage=None, arguments={"max_labeled_demos": 4}, lm=lm)
    assert calls_of(lm) == 0


def test_a_threshold_that_no_run_reaches_is_told(compiled, tmp_path):
    report = compiled(threshold=2.0).report
    note = "no run reached the threshold of 2 (12 were scored): no demo is one of a run"
    assert list(report.notes) == [note]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["notes"] == [note]
    assert compiled(out=tmp_path / "reached").report.notes == []
    assert compiled("labeled", threshold=2.0, out=tmp_path / "labels").report.notes == []
    assert compiled("gepa", threshold=2.0, out=tmp_path / "gepa").report.notes == []


@pytest.mark.parametrize("by", ["bootstrap", "random-search"])
def test_demos_that_were_there_are_not_thrown_away_for_none(by, compiled, tmp_path):
    start = compiled("labeled").program
    with pytest.raises(NothingChangedError, match="no run scored well enough for a demo"):
        compiled(by, start=start, arguments={"max_labeled_demos": 0}, threshold=2.0, out=tmp_path / "second")


BOUNDS = [(name, key) for name in PROMPTS for key, value in OPTIMIZERS[name].small.items() if isinstance(value, int)]


@pytest.mark.parametrize(("by", "name"), BOUNDS)
@pytest.mark.parametrize("value", [0, 1, 10**400], ids=["none", "one", "far too many"])
def test_arguments_work_or_are_refused_before_anything_is_spent(by, name, value, compiled):
    lm = model(sampled if by == "simba" else learner)
    report, refused = outcome(lambda: compiled(by, examples(6, 4, 4), lm=lm, arguments={name: value}, workers=1).report)
    assert report or "changed nothing" in refused or "nothing tells" in refused or calls_of(lm) == 0, refused


@pytest.mark.parametrize(
    ("by", "arguments", "message"),
    [
        ("random-search", {"max_bootstrapped_demos": 0}, "max_bootstrapped_demos must be 1 or more"),
        ("mipro", {"max_bootstrapped_demos": 0}, "max_bootstrapped_demos must be 1 or more, or max_labeled_demos 0"),
        ("mipro", {"num_candidates": 1}, "num_candidates must be 2 or more"),
        ("bootstrap", {"max_bootstrapped_demos": 0, "max_labeled_demos": 0}, "without demos there is nothing to tune"),
        ("gepa", {"max_metric_calls": 8}, "must be more than the 8 examples to choose by"),
        ("labeled", {"k": 10**400}, "must be at most 1,000,000"),
    ],
)
def test_arguments_that_nothing_can_come_of(by, arguments, message, compiled, tmp_path):
    lm = model()
    with pytest.raises(AspectragError, match=message):
        compiled(by, arguments=arguments, lm=lm)
    assert calls_of(lm) == 0
    assert not (tmp_path / "out").exists()


def test_a_strategy_that_there_is_not():
    with pytest.raises(AspectragError, match="there is no strategy 'us4': did you mean 'us3'"):
        OPTIMIZERS["dpo"].arguments({"strategy": "us4"}, "small", Size(4, 4, 0))


def test_a_budget_of_runs_leaves_gepa_a_step_or_is_refused():
    size = Size(12, 8, 1)
    assert OPTIMIZERS["gepa"].arguments({}, 23, size)["max_metric_calls"] == 9
    with pytest.raises(AspectragError, match="needs at least 23 runs"):
        OPTIMIZERS["gepa"].arguments({}, 22, size)


class Killed(BaseException):
    """What no code can catch."""


@pytest.mark.parametrize("place", ["program saved", "half of the work gone", "work gone"])
def test_a_kill_at_the_very_end_leaves_what_the_same_command_finishes(place, compiled, tmp_path, monkeypatch):
    rmtree, unlink = shutil.rmtree, Path.unlink

    def killed(folder, *arguments, **options):
        if Path(folder).name == ".work" and place != "work gone":
            if place == "half of the work gone":
                unlink(Path(folder) / "answers")
            raise Killed
        rmtree(folder, *arguments, **options)

    def unlinked(path, *arguments, **options):
        if path.name == "compiling.json":
            raise Killed
        unlink(path, *arguments, **options)

    monkeypatch.setattr(shutil, "rmtree", killed)
    monkeypatch.setattr(Path, "unlink", unlinked)
    lm, out = model(), tmp_path / "out"
    with pytest.raises(Killed):
        compiled(lm=lm)
    monkeypatch.undo()
    assert (out / "manifest.json").is_file()
    spent, before = calls_of(lm), (out / "report.json").read_text()
    with pytest.raises(AspectragError, match="another arguments, optimizer"):
        compiled("labeled", lm=lm)
    done = compiled(lm=lm, agree=lambda estimate: False)
    assert calls_of(lm) == spent
    assert (out / "report.json").read_text() == before
    assert json.loads(json.dumps(done.report.to_dict())) == json.loads(before)
    assert done.report.compiled.classification.accuracy == 1.0
    assert done.program.route.demos
    assert sorted(file.name for file in out.iterdir() if file.name != ".lock") == [
        "config.json", "manifest.json", "optimizer.log", "report.json", "state.json",
    ]  # fmt: skip
    with pytest.raises(AspectragError, match="holds a compiled program already"):
        compiled(lm=lm)


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"threshold": 0.5}, "threshold"),
        ({"known": {"decompose": {"sub_questions": []}}}, "known"),
        ({"whole": True}, "whole"),
        ({"roles": {"answer": model(name="scripted/other")}}, "roles"),
        ({"lm": model().copy(temperature=0.7)}, "options"),
        ({"start": HanRag(HanRagConfig(k=3), ListRetriever())}, "config"),
        ({"seed": 1}, "seed"),
        ({"keep": "compiled"}, "keep"),
        ({"recipe": "router"}, "recipe"),
        ({"sets": examples(11)}, "data"),
        ({"teacher": model(name="scripted/teacher")}, "models, options"),
        ({"start": HanRag(None, NoPassages())}, "passages"),
    ],
)
def test_what_goes_on_must_be_what_was_begun(change, differs, compiled, tmp_path):
    given = {"by": "bootstrap", "arguments": {"max_labeled_demos": 0}}
    with pytest.raises(AspectragError, match="not begun"):
        compiled(**given, agree=lambda estimate: False)
    lm = change.get("lm") or model()
    with pytest.raises(AspectragError, match=f"holds an optimization with another {differs}: give another --out"):
        compiled(**{**given, "lm": lm, **change})
    assert calls_of(lm) == 0
    assert compiled(**given).report.stages["route"].changed


def test_an_optimization_that_an_earlier_version_began_goes_on(compiled, tmp_path):
    with pytest.raises(AspectragError, match="not begun"):
        compiled(agree=lambda estimate: False)
    file = tmp_path / "out" / "compiling.json"
    told = json.loads(file.read_text())
    for key in ("threshold", "known", "whole", "options", "roles", "config", "ranker", "passages"):
        del told[key]
    file.write_text(json.dumps(told))
    assert compiled().report.kept == "compiled"


def test_what_an_optimization_began_with_cannot_be_read(compiled, tmp_path):
    with pytest.raises(AspectragError, match="not begun"):
        compiled(agree=lambda estimate: False)
    (tmp_path / "out" / "compiling.json").write_text('{"tar')
    with pytest.raises(AspectragError, match=r"compiling.json cannot be read \(.+\): remove the folder, and compile"):
        compiled()


def test_folders_that_cannot_be_written_into(compiled, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("years of work")
    lm = model()
    for out in (tmp_path / "file", tmp_path / "file" / "below" / "that"):
        with pytest.raises(AspectragError, match=r"file\S* cannot be written into \(.+\): give another --out"):
            compiled(out=out, lm=lm)
    (tmp_path / "closed").mkdir()

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    for name in ("mkdir", "write_text"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, name, refused)
            with pytest.raises(AspectragError, match=r"cannot be written into \(Permission denied\)"):
                compiled(out=tmp_path / "closed", lm=lm)
    assert calls_of(lm) == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only to this user")
def test_a_folder_that_is_read_only(compiled, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    for out in (tmp_path / "closed", tmp_path / "closed" / "below"):
        with pytest.raises(AspectragError, match="cannot be written into"):
            compiled(out=out)


def test_folders_that_cannot_be_used(compiled, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(AspectragError, match="holds other files"):
        compiled(out=tmp_path / "mine")
    compiled(out=tmp_path / "done")
    with pytest.raises(AspectragError, match="holds a compiled program already"):
        compiled(out=tmp_path / "done")
    with pytest.raises(AspectragError, match="not begun"):
        compiled(out=tmp_path / "begun", agree=lambda estimate: False)
    with pytest.raises(AspectragError, match="another arguments, optimizer"):
        compiled("labeled", out=tmp_path / "begun")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "mipro2"}, "did you mean 'mipro'"),
        ({"stage": "rout"}, "has no stage 'rout'"),
        ({"arguments": {"max_bootstraped_demos": 3}}, "did you mean 'max_bootstrapped_demos'"),
        ({"arguments": {"max_rounds": "three"}}, "must be like 1"),
        ({"arguments": {"max_rounds": 0}}, "must be 1 or more"),
        ({"arguments": {"max_labeled_demos": -1}}, "must be 0 or more"),
        ({"threshold": float("nan")}, "the threshold is nan"),
        ({"seed": -1}, "the seed is -1"),
        ({"budget": "huge"}, "no budget 'huge'"),
        ({"by": "mipro", "budget": 10}, "needs at least"),
        ({"by": "labeled", "stage": None}, "needs examples with the stage's own outputs"),
    ],
)
def test_wrong_calls(options, message, compiled):
    with pytest.raises(AspectragError, match=message):
        compiled(**options)


def test_a_budget_of_runs_is_kept_to(compiled):
    told = []
    report = compiled("random-search", budget=90, agree=lambda estimate: told.append(estimate) or True).report
    assert report.spent["runs"] - 3 - 16 <= 90
    assert report.arguments["num_candidate_programs"] >= 2


def test_report_is_json_and_holds_the_diff(compiled, tmp_path):
    compiled("gepa")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["stages"]["route"]["diff"].endswith(f"+{HINT}")
    assert report["compiled"]["classification"]["accuracy"] == 1.0
    assert report["spent"]["lm_calls"] > 0
