"""The command: tables and lists of small runs, as JSON too, and one clear line where nothing can be told."""

import json
import re
import shutil

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation.folder import trace_name
from aspectrag.optimizers.evaluation.run import Run
from aspectrag.optimizers.evaluation.runner import ask_all
from aspectrag.optimizers.evaluation.scoring import score
from aspectrag.optimizers.metrics.registry import metric
from aspectrag.programs.baselines.direct import Direct
from aspectrag.programs.config import AnswerConfig
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from emma import COMPLEX, COMPOUND, PASSAGES, SINGLE, replies, reply
from fakes import ListRetriever

EVIL = "evil\x1b[31m"
ASKED = [
    SINGLE,
    SINGLE.copy(id="misread", question="Who wrote Emma, again?"),
    SINGLE.copy(id=EVIL, question="Who wrote Emma, for once?"),
    COMPLEX,
    COMPOUND,
    question("open", "Why write about Emma?", references=[{"text": "so", "label": 1}], supporting_ids=["book"]),
]
ROUTES = {COMPLEX.question: "single-step", COMPOUND.question: "compound"}


def answer(call):
    if "for once" in call.prompt:
        return RuntimeError(f"it fell {EVIL}")
    changes = {
        "route": lambda call: ROUTES.get(call.inputs["question"], "single-step"),
        "answer": lambda call: f"Burney {EVIL}" if "again" in call.inputs["question"] else reply(call),
        "sub_questions": ["Who wrote Emma?"],
    }
    if call.fields[0] == "answer" and "sub_answers" in call.inputs:
        changes["answer"] = "Jane Austen"
    return replies(**changes)(call)


def ran(out, asked=ASKED, metrics=("acc", "compound_acc", "f1", "steps"), **programs):
    programs = programs or {"han": HanRag(HanRagConfig(), ListRetriever(PASSAGES))}
    with dspy.context(lm=scripted_lm(answer)):
        ask_all(programs, asked, out, {name: {"method": name} for name in programs}, progress=False)
    for name in programs:
        score(Run(out / name), [metric(each) for each in metrics], ["type", "hops"], progress=False)
    return out / next(iter(programs))


def rows(out):
    """The cells of the first table by their first one."""
    lines = [line for line in out.partition("without a score")[0].splitlines() if line.strip()]
    return dict(re.split(r"\s{2,}", line.strip()) for line in lines)


def test_a_run_is_told_stage_by_stage_in_tables_lists_and_json(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = ran(tmp_path / "runs")
    code, out, err = run("diagnose", "runs/han", "--json", "why.json")
    assert (code, err) == (0, "")
    counted = rows(out)
    assert counted["route"] == "1 (25%)"
    assert counted["decomposition"] == "1 (25%)"
    assert counted["reading"] == "1 (25%)"
    assert counted["failed"] == "1 (25%)"
    assert counted["retrieval"] == counted["unknown"] == "0"
    assert (counted["wrong"], counted["right"]) == ("4", "1")
    assert re.search(r"without a score +1\n", out)
    assert "han by type" in out
    assert "\x1b" not in out
    (listed,) = [line for line in out.splitlines() if " misread  " in line]
    assert listed.startswith("reading           misread  the passages were read, the reply is 'Burney evil")
    below = out.splitlines()[out.splitlines().index(listed) + 1]
    assert below.strip() == f"HanRag > answer, runs/han/traces/{trace_name('misread')}"
    assert (folder / "traces" / trace_name("misread")).is_file()
    (told,) = json.loads((tmp_path / "why.json").read_text(encoding="utf-8"))
    assert sum(told["stages"].values()) == told["wrong"] == 4
    assert {each["id"]: each["stage"] for each in told["questions"]} == {
        "misread": "reading", EVIL: "failed", "complex": "route", "compound": "decomposition",
    }  # fmt: skip
    assert told["by_category"]["type"]["bridge"]["route"] == 1
    assert told["unscored"] == ["open"]


def test_several_runs_stand_side_by_side_and_can_be_split_and_measured_otherwise(run, tmp_path):
    programs = {"han": HanRag(HanRagConfig(), ListRetriever(PASSAGES)), "direct": Direct(AnswerConfig())}
    ran(tmp_path / "runs", **programs)
    code, out, err = run("diagnose", tmp_path / "runs", "--metric", "f1", "--threshold", 0.9, "--by", "hops")
    assert (code, err) == (0, "")
    assert "runs/direct" in out.splitlines()[0]
    assert "han by hops" in out
    twice = run("diagnose", tmp_path / "runs", tmp_path / "runs" / "han", "--metric", "f1")[1]
    assert twice == run("diagnose", tmp_path / "runs", "--metric", "f1")[1]
    assert "no retrieval: answered from memory" in out
    code, out, _ = run("diagnose", tmp_path / "runs" / "han", "--metric", "f1", "--threshold", 0)
    assert code == 0
    assert "failed            evil" in out  # whatever the threshold


def test_a_trace_that_is_missing_or_damaged_is_unknown_and_the_others_are_told(run, tmp_path):
    folder = ran(tmp_path / "runs")
    (folder / "traces" / trace_name("misread")).write_text('{"steps": [{"kind": 1, "children": []}]}')
    (folder / "traces" / trace_name("complex")).unlink()
    code, out, err = run("diagnose", folder)
    assert (code, err) == (0, "")
    assert trace_name("misread") in out
    assert "is no trace, or damaged" in out
    assert "complex  no trace was kept" in out
    assert rows(out)["unknown"] == "2 (50%)"


def test_where_nothing_is_wrong_it_says_so(run, tmp_path):
    code, out, err = run("diagnose", ran(tmp_path / "runs", [SINGLE]))
    assert (code, err) == (0, "")
    assert "runs/han: no answer is wrong" in out


def lines(run, *arguments):
    code, out, err = run("diagnose", *arguments)
    assert (code, out, err.count("\n")) == (1, "", 1)
    return err


def test_what_cannot_be_diagnosed_is_said_in_one_line(run, tmp_path):
    folder = ran(tmp_path / "runs")
    assert "holds no run" in lines(run, tmp_path / "elsewhere")
    assert "was not measured by em (its columns: acc, f1, steps, compound_acc)" in lines(run, folder, "--metric", "em")
    assert "steps does not tell right from wrong" in lines(run, folder, "--metric", "steps")
    assert "no category 'hop' (they have: type, hops)" in lines(run, folder, "--by", "hop")
    assert "is a folder" in lines(run, folder, "--json", tmp_path)
    assert "there is no folder" in lines(run, folder, "--json", tmp_path / "missing" / "why.json")
    shutil.rmtree(folder / "traces")
    assert "keeps no traces" in lines(run, folder)
    (folder / "scores.jsonl").unlink()
    assert "is not finished" in lines(run, folder)


@pytest.mark.parametrize(
    ("asked", "metrics", "message"),
    [
        ([question("q", "Who wrote Emma?", ["Burney"])], ("acc",), "neither supporting passages nor parts"),
        ([SINGLE], ("em",), "was not measured by acc or compound_acc (its columns: em)"),
    ],
)
def test_a_run_without_what_is_needed_is_said_in_one_line(run, tmp_path, asked, metrics, message):
    assert message in lines(run, ran(tmp_path / "runs", asked, metrics))
