"""One program on several language models: the runs are ordinary ones, nothing is asked or tuned twice."""

import shutil

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.compiling import compile_program
from aspectrag.optimizers.compiling.examples import Examples
from aspectrag.optimizers.evaluation import runner, swap
from aspectrag.optimizers.evaluation.comparison import compare
from aspectrag.optimizers.evaluation.run import ALL, Run, runs_of
from aspectrag.optimizers.evaluation.swapping import SPENT, folders_of
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.programs.baselines.ircot import Ircot
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from aspectrag.programs.rankers import pointer
from aspectrag.programs.rankers.network import PointerNetwork
from aspectrag.programs.rankers.pointer import PointerRanker
from aspectrag.programs.rich_rag import RichRag, RichRagConfig
from aspectrag.programs.saved import read_manifest, tuned_stages
from dspy.lm15 import RateLimitError
from evaluation import EM, questions, replies, retriever
from faceted import WordEncoder

DEMO = {"passages": [], "question": "What about tea?", "answer": "Leaves, ü.", "citations": [], "augmented": True}


def babbling(call):
    """It never keeps to the form, but for a question whose number is a multiple of three."""
    return replies(call) if int(call.inputs["question"].split("number ")[1].rstrip("?")) % 3 == 0 else "So be it."


def models(**those):
    those = those or {"good": replies, "bad": babbling}
    return {name: scripted_lm(reply, name=f"swap/{name}") for name, reply in those.items()}


def swapped(out, lms, *, program_of=None, asked=None, config=None, **options):
    given = {"method": "rag", "metrics": [EM], "progress": False, "workers": 2, **options}
    make = program_of or (lambda lm: Rag(config or AnswerConfig(k=2), retriever()))
    return swap(make, asked or questions(), lms, out, **given)


def calls(lms):
    return {name: len(lm.engine.calls) for name, lm in lms.items()}


def test_each_language_model_has_an_ordinary_run(tmp_path):
    lms, turns = models(), []
    made = swapped(tmp_path, lms, about={"benchmark": "own"}, report=turns.append)
    assert [(each.lm, each.recipes, each.name) for each in made] == [("good", (), "good"), ("bad", (), "bad")]
    assert turns == ["good (1 of 2)", "bad (2 of 2)"]
    for each in made:
        folder = tmp_path / folders_of(lms)[each.lm]
        assert each.run.path == folder / "rag"
        assert [run.path for run in runs_of(folder)] == [each.run.path]
        assert each.run.config["lm"]["model"] == f"scripted/swap/{each.lm}"
        assert (each.run.config["benchmark"], each.run.config["method"]) == ("own", "rag")
        known = set(each.run.metrics["metrics"])
        assert known == {"em", *SPENT} - {"cost"}  # these have no price
    first, second = (each.run for each in made)
    assert first.config["prompts"] == second.config["prompts"]
    assert [q.toDict() for q in first.questions] == [q.toDict() for q in second.questions]
    assert [record["passages"] for _, record in first.answers()] == [
        record["passages"] for _, record in second.answers()
    ]


def test_what_could_not_be_used_is_counted(tmp_path):
    made = swapped(tmp_path, models())
    failures = [each.run.means()[ALL, ALL, "parse_failures"] for each in made]
    assert [round(mean.mean * mean.n) for mean in failures] == [0, 6]
    assert [each.run.means()[ALL, ALL, "fallbacks"].mean for each in made] == [0, 0.6]
    assert made[1].run.means()[ALL, ALL, "lm_calls"].mean == pytest.approx((4 + 6 * 3) / 10)  # three attempts


def test_a_finished_swap_asks_nothing_and_another_model_may_join(tmp_path):
    first = [each.run.metrics for each in swapped(tmp_path, models())]
    lms = models()
    assert [each.run.metrics for each in swapped(tmp_path, lms)] == first
    assert calls(lms) == {"good": 0, "bad": 0}
    lms = models(good=replies, third=replies)
    swapped(tmp_path, lms)
    assert calls(lms) == {"good": 0, "third": 10}


def test_a_model_that_is_gone_leaves_the_runs_that_are_done_and_makes_no_call_twice(tmp_path, monkeypatch):
    """The second language model goes away amid the calls of a question."""
    monkeypatch.setattr(runner, "_PAUSES", ())

    def chain(call):
        thought = call.prompt.count("thought of")
        if "answered" in call.fields:
            return {"thought": f"coal thought of {thought}", "answered": thought >= 2}
        return {"answer": "So.", "citations": []}

    answered, left = [], [11]

    def fails(call):
        if left[0] == 0:
            return RateLimitError("gone")
        left[0] -= 1
        answered.append(call.prompt)
        return chain(call)

    lms = models(good=chain, other=fails)
    options = {"method": "ircot", "program_of": lambda lm: Ircot(None, retriever()), "workers": 1}
    with pytest.raises(AspectragError, match=r"^other: .*What was answered is kept in .*: the same command goes on"):
        swapped(tmp_path, lms, **options)
    before = calls(lms)["good"]
    assert before == 40
    assert Run(tmp_path / folders_of(lms)["good"] / "ircot").metrics["answered"] == 10
    left[0] = 99
    made = swapped(tmp_path, lms, **options)
    assert calls(lms)["good"] == before
    assert len(answered) == len(set(answered)) == 40  # the thoughts of the third question are not thought again
    counts = [each.run.means()[ALL, ALL, "lm_calls"].mean for each in made]
    assert counts == [4, 4]


def tuning(log):
    def recompile(recipe, program, lm, folder):
        log.append((recipe, lm.model, folder.name.split("+")[0]))
        better = program.deepcopy()
        better.answer.demos = [*better.answer.demos, dspy.Example(**DEMO, more=recipe).with_inputs("question")]
        return better

    return recompile


def test_recompiled_it_is_asked_once_more_and_tuned_once(tmp_path):
    lms, log = models(), []
    made = swapped(tmp_path, lms, recipes=["router", "judge"], recompile=tuning(log))
    assert [each.name for each in made] == [
        "good", "good, recompiled (router, judge)", "bad", "bad, recompiled (router, judge)",
    ]  # fmt: skip
    assert log == [(recipe, f"scripted/swap/{lm}", "rag") for lm in ("good", "bad") for recipe in ("router", "judge")]
    plain, tuned = made[0].run, made[1].run
    assert plain.config["prompts"] != tuned.config["prompts"]
    assert (plain.config.get("recompiled"), tuned.config["recompiled"]) == (None, ["router", "judge"])
    assert sum("What about tea?" in call.prompt for call in lms["good"].engine.calls) == 10
    assert len({each.run.path for each in made}) == 4
    assert sorted(run.path for path in tmp_path.iterdir() if path.is_dir() for run in runs_of(path)) == sorted(
        each.run.path for each in made
    )
    again = models()
    same = swapped(tmp_path, again, recipes=["router", "judge"], recompile=tuning(log))
    assert [each.run.metrics for each in same] == [each.run.metrics for each in made]
    assert (calls(again), len(log)) == ({"good": 0, "bad": 0}, 4)


def by_the_compiler():
    """Demos for one of two stages, one after the other, by the compiler itself."""
    stages = {"first": "answer", "second": "think"}

    def recompile(recipe, program, model, folder):
        sets = Examples(*(answered(start, stages[recipe]) for start in (0, 100, 200)))
        metric = Metric("said", "it says something", lambda example, prediction: 1.0)
        return compile_program(
            program, sets, metric, folder, method="ircot", stage=stages[recipe], by="labeled", lm=model, recipe=recipe,
            keep="compiled", progress=False,
        ).program  # fmt: skip

    return recompile


def answered(start, stage):
    signature = getattr(Ircot(None, retriever()), stage).signature
    return [
        dspy.Example({name: _fitting(field, f"{name} {n}") for name, field in signature.fields.items()})
        .with_inputs(*signature.input_fields) for n in range(start, start + 2)
    ]  # fmt: skip


def _fitting(field, text):
    return {bool: True, str: text}.get(field.annotation, [])


def test_stages_tuned_one_after_the_other_keep_where_they_are_from(tmp_path):
    def chain(call):
        return {"thought": "t", "answered": True, "answer": "So.", "citations": []}

    def of_two(stages):
        return {stage: (each["lm"], each["recipe"]) for stage, each in stages.items()}

    options = {"method": "ircot", "program_of": lambda lm: Ircot(None, retriever()), "recipes": ["first", "second"]}
    made = swapped(tmp_path, models(good=chain, bad=chain), recompile=by_the_compiler(), **options)
    for name, run in ((name, each.run) for name, each in zip("aabb", made, strict=True) if each.recipes):
        lm = {"a": "scripted/swap/good", "b": "scripted/swap/bad"}[name]
        assert run.config["compiled_stages"] == {"answer": lm, "think": lm}
        (last,) = [each for each in (run.path.parent.parent).glob("*/compiled/*+second-*/manifest.json")
                   if read_manifest(each.parent)["meta"]["lm"] == lm]  # fmt: skip
        assert of_two(tuned_stages(read_manifest(last.parent))) == {"answer": (lm, "first"), "think": (lm, "second")}


def test_killed_while_the_compiler_cleans_up_it_is_cleaned_up(tmp_path, monkeypatch):
    options = {"method": "ircot", "program_of": lambda lm: Ircot(None, retriever()), "recipes": ["first"]}
    chain = lambda call: {"thought": "t", "answered": True, "answer": "So.", "citations": []}  # noqa: E731
    lms = models(good=chain, bad=chain)
    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        swapped(tmp_path, lms, recompile=by_the_compiler(), **options)
    monkeypatch.undo()
    assert list(tmp_path.glob("*/compiled/*/compiling.json"))
    swapped(tmp_path, lms, recompile=by_the_compiler(), **options)
    assert not [*tmp_path.glob("*/compiled/*/compiling.json"), *tmp_path.glob("*/compiled/*/.work")]


def killed(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("in_place", [False, True])
def test_what_a_function_of_ones_own_tuned_is_told_too(tmp_path, in_place):
    def recompile(recipe, program, lm, folder):
        better = program if in_place else program.deepcopy()
        better.answer.demos = [*better.answer.demos, dspy.Example(**DEMO).with_inputs("question")]
        return better

    lms = models()
    made = swapped(tmp_path, lms, recipes=["router", "judge"], recompile=recompile)
    assert [each.run.config["compiled_stages"] for each in made] == [
        None, {"answer": "scripted/swap/good"}, None, {"answer": "scripted/swap/bad"},
    ]  # fmt: skip
    assert max(call.prompt.count("What about tea?") for call in lms["good"].engine.calls) == 2
    manifests = [read_manifest(file.parent) for file in tmp_path.glob("*/compiled/*/manifest.json")]
    assert {(each["recipe"], *each["stages"]) for each in (manifest["meta"] for manifest in manifests)} == {
        ("router", "answer"), ("judge", "answer"),
    }  # fmt: skip


def test_a_ranker_that_was_trained_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(pointer, "_encoder", lambda *_: WordEncoder())

    def recompile(recipe, program, lm, folder):
        program.ranker = PointerRanker(PointerNetwork(32, 16, 2, 1), WordEncoder(), {"trained": "by hand"})
        return program

    def reply(call):
        return {"aspects": ["a"], "answer": "So [1].", "citations": [1]}

    def program_of(lm):
        return RichRag(RichRagConfig(ranker="retrieval"), retriever())

    options = {"method": "rich", "program_of": program_of, "recipes": ["pointer"], "recompile": recompile}
    made = swapped(tmp_path, models(good=reply, bad=reply), **options)
    assert [bool(each.run.config["ranker"]) for each in made] == [False, True, False, True]
    again = swapped(tmp_path, models(good=reply, bad=reply), **options)
    assert [each.run.metrics for each in again] == [each.run.metrics for each in made]


def test_stopped_while_it_is_tuned_it_goes_on_with_what_was_tuned(tmp_path):
    log = []
    tune = tuning(log)

    def interrupted(recipe, *rest):
        if recipe == "judge":
            raise KeyboardInterrupt
        return tune(recipe, *rest)

    lms = models()
    with pytest.raises(KeyboardInterrupt):
        swapped(tmp_path, lms, recipes=["router", "judge"], recompile=interrupted)
    assert calls(lms) == {"good": 10, "bad": 0}
    swapped(tmp_path, lms, recipes=["router", "judge"], recompile=tune)
    assert [recipe for recipe, *_ in log] == ["router", "judge", "router", "judge"]
    assert calls(lms)["good"] == 20


def test_what_was_tuned_with_other_settings_is_no_match(tmp_path):
    swapped(tmp_path, models(), recipes=["router"], recompile=tuning([]))
    for run in tmp_path.glob("*/rag/manifest.json"):
        run.unlink()
        for file in sorted(run.parent.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
    with pytest.raises(AspectragError, match=r"rag\+router-\w+ was tuned with other settings: give another --out"):
        swapped(tmp_path, models(), config=AnswerConfig(k=3), recipes=["router"], recompile=tuning([]))


def test_one_judge_judges_all(tmp_path):
    def judged(example, prediction):
        return float(dspy.settings.lm.model == "scripted/swap/good")

    metric = Metric("judged", "by the first", judged, judged=True)
    made = swapped(tmp_path / "a", models(), metrics=[metric])
    assert [each.run.metrics["metrics"]["judged"]["mean"] for each in made] == [1, 1]
    for options in ({"judge": scripted_lm(replies)}, {"roles": {"judge": scripted_lm(replies)}}):
        made = swapped(tmp_path / next(iter(options)), models(), metrics=[metric], **options)
        assert [each.run.metrics["metrics"]["judged"]["mean"] for each in made] == [0, 0]


def test_what_is_no_swap_is_refused_before_anything_is_asked(tmp_path):
    one = models(good=replies)
    with pytest.raises(AspectragError, match=r"one language model only \(good\): give two or more"):
        swapped(tmp_path, one)
    with pytest.raises(AspectragError, match=r"good and best are the same language model \(scripted/swap/good\)"):
        swapped(tmp_path, {**one, "best": one["good"].copy()})
    with pytest.raises(ValueError, match="need a function"):
        swapped(tmp_path, models(), recipes=["router"])
    assert not calls(one)["good"]
    assert not list(tmp_path.iterdir())
    run = swapped(tmp_path, models())[0].run
    with pytest.raises(AspectragError, match="is a run itself"):
        swapped(run.path, models())


def test_another_run_in_the_folder_is_refused(tmp_path):
    swapped(tmp_path, models())
    with pytest.raises(AspectragError, match="holds a run with another config"):
        swapped(tmp_path, models(), config=AnswerConfig(k=3))


def test_its_runs_are_compared_as_all_are(tmp_path):
    made = swapped(tmp_path, models())
    (row,) = (row for row in compare([each.run for each in made], ["em"]) if row.category == ALL)
    assert row.means == tuple(each.run.means()[ALL, ALL, "em"] for each in made)
    assert row.differences[1].mean == pytest.approx(row.means[1].mean - row.means[0].mean)
