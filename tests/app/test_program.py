"""``aspectrag program show`` and ``diff``: what a saved program says, and where two differ."""

import json

import dspy
import pytest
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from aspectrag.programs.describing import describe, differences
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from aspectrag.programs.registry import METHODS
from fakes import ListRetriever
from tuned import INSTRUCTIONS, RECORD, save_tuned, tune


def han(**settings):
    return HanRag(HanRagConfig(**settings), ListRetriever())


def flat(text):
    return " ".join(text.split())


def change(file, **entries):
    file.write_text(json.dumps({**json.loads(file.read_text()), **entries}))


@pytest.fixture
def saved(tmp_path):
    return save_tuned(tmp_path / "mine", "route", "answer", config=HanRagConfig(k=7), lm="openai/gpt-4o-mini")


def test_a_program_is_shown_with_what_tuning_gained(run, saved):
    code, out, err = run("program", "show", saved)
    assert (code, err) == (0, "")
    said = flat(out)
    for words in (
        "class HanRag (--method han)",
        "language model openai/gpt-4o-mini",
        f"saved with DSPy {dspy.__version__}",
        "settings k 7, max_attempts 3, answers brief",
        "tuned stages route, answer",
        "input question: str",
        "output route: Literal['straightforward', 'single-step', 'compound', 'complex'] - straightforward: common",
        f"instructions {INSTRUCTIONS} (route) tuned router / mipro for openai/gpt-4o-mini by label",
        "score 0.500 [0.400, 0.600] -> 0.700 [0.600, 0.800], 40 questions",
        "difference +0.200 [0.100, 0.300], p < 0.001",
        "demos 1 1 question: demo of route -> route: demo of route",
    ):
        assert words in said
    assert said.count("tuned router") == 2
    assert [line for line in out.splitlines() if line in HanRag.stages()] == HanRag.stages()


def test_json_is_the_same_as_an_object(run, saved):
    code, out, err = run("program", "show", saved, "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    record = json.loads(out)
    assert list(record) == ["class", "method", "lm", "dspy", "config", "stages"]
    assert (record["class"], record["method"], record["lm"]) == ("HanRag", "han", "openai/gpt-4o-mini")
    assert record["config"]["k"] == 7
    assert list(record["stages"]) == HanRag.stages()
    stage = record["stages"]["route"]
    assert stage["instructions"] == f"{INSTRUCTIONS} (route)"
    assert stage["demos"] == [{"question": "demo of route", "route": "demo of route"}]
    assert stage["inputs"] == [{"name": "question", "type": "str", "description": "", "prefix": ""}]
    assert stage["tuning"] == {"lm": "openai/gpt-4o-mini", **RECORD}
    assert record["stages"]["refine"]["tuning"] is None


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_shown_and_compared(run, tmp_path, method):
    METHODS[method](None, ListRetriever()).save(tmp_path / "p")
    code, out, err = run("program", "show", tmp_path / "p")
    assert (code, err) == (0, "")
    assert "tuned stages none" in flat(out)
    code, out, err = run("program", "diff", tmp_path / "p")
    assert (code, out, err) == (0, f"untuned and {tmp_path / 'p'}: no difference\n", "")


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"lm": None, "stages": {"route": None}},
        {"stages": {"route": {"metric": "label", "uncompiled": {"mean": 0.5}, "difference": {"mean": "much"}}}},
        {"stages": {"route": {"uncompiled": 0.5, "compiled": "0.7", "demos": "four"}}},
        {"stages": {"gone": {"metric": "label"}}},
        {"lm": {"model": "x"}, "scores": {"em": 0.5}},
    ],
)
def test_parts_of_the_record_may_be_missing(run, tmp_path, meta):
    han().save(tmp_path / "p", meta=meta)
    manifest = json.loads((tmp_path / "p" / "manifest.json").read_text())
    (tmp_path / "p" / "manifest.json").write_text(json.dumps({k: v for k, v in manifest.items() if k != "dspy"}))
    for form in ([], ["--json"]):
        code, out, err = run("program", "show", tmp_path / "p", *form)
        assert (code, err) == (0, "")
        assert "route" in out


def test_texts_are_shown_as_they_are(run, tmp_path):
    program = han()
    program.route.signature = program.route.signature.with_instructions("[bold]Be[/bold] \x1b[31mred :smile:\nor not")
    program.route.demos = [dspy.Example(question="[red]\x1b]0;x\x07", route="complex", augmented=True)]
    program.save(tmp_path / "p")
    for command in ("show", "diff"):
        code, out, _ = run("program", command, tmp_path / "p")
        assert code == 0
        assert "[bold]Be[/bold] [31mred :smile:" in out
        assert "question: [red]]0;x" in out
        assert "route: complex (bootstrapped)" in out
        assert "\x1b" not in out
        assert "\x07" not in out


def test_what_tuning_changed(run, saved):
    code, out, err = run("program", "diff", saved)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "- untuned",
        f"+ {saved}",
        "",
        "route",
        "  instructions",
        "  @@ -1 +1 @@",
        "  -Decide how the answer to the question must be looked up.",
        f"  +{INSTRUCTIONS} (route)",
        "  1 demo added",
        "  + question: demo of route, route: demo of route",
        "",
        "answer",
        "  instructions",
        "  @@ -1 +1 @@",
        "  -Answer the question from the passages, in as few words as can be.",
        f"  +{INSTRUCTIONS} (answer)",
        "  1 demo added",
        "  + passages: demo of answer, question: demo of answer, answer: demo of answer, citations: demo of answer",
        "",
    ]


def test_two_programs_are_compared(run, saved, tmp_path):
    tune(han(k=3, answers="full"), "route").save(tmp_path / "other")
    code, out, err = run("program", "diff", saved, tmp_path / "other")
    assert (code, err) == (0, "")
    said = flat(out)
    assert "setting - + k 7 3 answers brief full" in said
    assert "- output answer: str - as short as can be: a name" in said
    assert "+ output answer: str - in your own words" in said
    assert "1 demo removed - passages: demo of answer" in said
    assert "route" not in out.splitlines()  # tuned alike
    assert run("program", "diff", saved, saved)[:2] == (0, f"{saved} and {saved}: no difference\n")


def test_programs_of_two_classes_are_compared_too(run, saved, tmp_path):
    Rag(AnswerConfig(), ListRetriever()).save(tmp_path / "rag")
    code, out, _ = run("program", "diff", saved, tmp_path / "rag")
    assert code == 0
    assert "class HanRag Rag" in flat(out)
    assert "max_steps 5" in flat(out)
    assert "route - not in the other" in flat(out)


def test_demos_count_as_often_as_they_are_there():
    before, after, other = han(), han(), han()
    one, two = ({"question": name, "route": "complex"} for name in "ab")
    before.route.demos, after.route.demos, other.route.demos = [one, two], [two, one], [one, two, two]
    found = differences(describe(before), describe(after))
    assert found.stages["route"].reordered
    assert found.stages.keys() == {"route"}
    assert differences(describe(before), describe(other)).stages["route"].added == [two]
    assert differences(describe(other), describe(after)).stages["route"].removed == [two]
    assert not differences(describe(before), describe(before.deepcopy()))


def test_the_smallest_difference_is_one():
    before = han()
    for changed in ("\n", " ", "\r"):
        after = han()
        after.route.signature = after.route.signature.with_instructions(before.route.signature.instructions + changed)
        same = after.route.signature.instructions == before.route.signature.instructions
        assert bool(differences(describe(before), describe(after))) != same
    after = han()
    after.route.signature = after.route.signature.with_updated_fields("route", prefix="Way:")
    after.refine.lm = dspy.LM("openai/x")
    found = differences(describe(before), describe(after)).stages
    assert found["refine"].lines == ["+ language model openai/x"]
    assert [line[0] for line in found["route"].lines] == ["-", "+"]
    assert found["route"].lines[1].endswith("prefix 'Way:'")


def test_a_trained_ranker_is_a_difference(run, tmp_path):
    for name, weights in (("a", b"1"), ("b", b"2")):
        METHODS["rich"](None, ListRetriever()).save(tmp_path / name)
        (tmp_path / name / "ranker").mkdir()
        (tmp_path / name / "ranker" / "model.safetensors").write_bytes(weights)
    code, out, _ = run("program", "diff", tmp_path / "a", tmp_path / "b")
    assert code == 0
    assert "trained ranker" in out
    assert "trained ranker" in run("program", "diff", tmp_path / "a")[1]
    assert "trained ranker" in json.loads(run("program", "show", tmp_path / "a", "--json")[1])["config"]


@pytest.mark.parametrize("damage", ["missing", "class", "truncated", "state", "config", "file"])
def test_what_is_no_program_gets_one_line(run, saved, tmp_path, damage):
    folder = saved
    if damage == "missing":
        folder = tmp_path / "nowhere"
    elif damage == "class":
        change(saved / "manifest.json", **{"class": "[red]Other\x1b"})
    elif damage == "truncated":
        (saved / "manifest.json").write_text("{")
    elif damage == "state":
        (saved / "state.json").write_text('{"route": []}')
    elif damage == "config":
        change(saved / "config.json", colour="red")
    else:
        folder = saved / "state.json"
    METHODS["rag"](None, ListRetriever()).save(tmp_path / "good")
    for arguments in (
        ["show", folder],
        ["show", folder, "--json"],
        ["diff", folder],
        ["diff", tmp_path / "good", folder],
    ):
        code, out, err = run("program", *arguments)
        assert (code, out) == (1, "")
        assert err.startswith("aspectrag: ")
        assert err.count("\n") == 1
        assert not err.startswith("aspectrag: unexpected")
        assert "\x1b" not in err


def test_help_teaches(run):
    assert "aspectrag program show my-compiled" in run("program", "show", "--help")[1]
    assert "aspectrag program diff compiled/small" in run("program", "diff", "--help")[1]
    assert "show" in run("program", "--help")[1]
