"""Runs that are interrupted, killed, out of disk or out of luck: what was answered stays, and nothing is paid twice."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import dspy
import pytest
from aspectrag.data.growing import GrowingFile
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation import evaluate, runner
from aspectrag.optimizers.evaluation.run import Run
from aspectrag.optimizers.evaluation.runner import alone, ask_all
from aspectrag.optimizers.evaluation.scoring import score
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.programs.baselines.ircot import Ircot
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from dspy.lm15 import InvalidRequestError, RateLimitError
from evaluation import CALLS, EM, TOKENS, questions, replies, retriever

SUPPORT = str(Path(__file__).parents[2] / "support")
CONFIGS = {"rag": {"method": "rag"}, "other": {"method": "other"}}


def programs(*names):
    return {name: Rag(AnswerConfig(k=2), retriever()) for name in names or ("rag",)}


def run(out, lm=None, asked=None, names=("rag",), **options):
    with dspy.context(lm=lm or scripted_lm(replies)):
        ask_all(programs(*names), asked or questions(), out, CONFIGS, progress=False, **options)
    return Run(out / names[0])


def table(folder):
    """Everything that a table is made of, without clocks."""
    scored = score(Run(folder), [EM, CALLS, TOKENS], ["type", "hops"], progress=False)
    return scored, (folder / "by_category.csv").read_text(), (folder / "metrics.json").read_text()


def test_every_question_is_asked_of_every_program_and_written_down(tmp_path):
    lm = scripted_lm(replies)
    run(tmp_path, lm, names=("rag", "other"))
    for name in ("rag", "other"):
        one = Run(tmp_path / name)
        assert [question.id for question, _ in one.answers()] == [f"q{n}" for n in range(10)]
        for n, (question, record) in enumerate(one.answers()):
            assert record["answer"] == f"Answer {n % 2}. [1]"
            assert record["error"] is None
            assert record["usage"]["lm_calls"] == 1
            assert record["usage"]["prompt_tokens"] > 10
            assert len(record["passages"]) <= 2
            assert record["cost"] is None  # a scripted model has no price
            trace = one.trace(question.id)
            assert trace is not None
            assert trace.usage["prompt_tokens"] == record["usage"]["prompt_tokens"]
        assert one.manifest["finished"]
        assert one.manifest["failed"] == 0
    # The second program asks what the first asked: that comes out of the cache of this run.
    assert not (tmp_path / ".answers").exists()
    assert len(lm.engine.calls) <= 20


@pytest.mark.parametrize("id", ["x\ud800y", "sk-abcdefgh12345678", "../../up", "a b/c", "é" * 300, 7])
def test_a_question_is_found_again_by_any_id(tmp_path, id):
    asked = [question.copy(id=id) for question in questions(1)]
    one = run(tmp_path, asked=asked)
    ((question, record),) = one.answers()
    assert record["answer"] == "Answer 0. [1]"
    assert one.trace(question.id) is not None
    lm = scripted_lm(replies)
    run(tmp_path, lm, asked=asked)
    assert not lm.engine.calls
    assert [file.parent.name for file in tmp_path.rglob("*.json") if file.name != "manifest.json"] == ["traces"]


def test_a_finished_run_asks_nothing(tmp_path):
    run(tmp_path)
    first = table(tmp_path / "rag")
    lm = scripted_lm(replies)
    run(tmp_path, lm)
    assert not lm.engine.calls
    assert table(tmp_path / "rag") == first


SCRIPT = f"""
import os, sys, time
sys.path.insert(0, {SUPPORT!r})
from pathlib import Path
import dspy
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation.runner import ask_all
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.programs.baselines.ircot import Ircot
from evaluation import questions, retriever

out, log = Path(sys.argv[1]), sys.argv[2]

def reply(call):
    # Two thoughts and an answer; what is logged was answered, as far as the model knows.
    with open(log, "a") as file:
        file.write(" | ".join(map(str, (call.inputs["question"], call.prompt.count("thought "), call.fields))) + "\\n")
    time.sleep(0.02)
    number = call.inputs["question"].split("number ")[1].rstrip("?")
    if "answered" in call.fields:
        n = call.prompt.count("thought of")
        return {{"thought": f"coal thought of {{number}} {{n}}", "answered": n >= 2}}
    return {{"answer": f"Answer {{int(number) % 2}}.", "citations": []}}

print("ready", flush=True)
with dspy.context(lm=scripted_lm(reply, name="killed")):
    programs, configs = {{"ircot": Ircot(None, retriever())}}, {{"ircot": {{"method": "ircot"}}}}
    ask_all(programs, questions(24), out, configs, workers=4, progress=False)
"""


def start(out, log):
    environment = {**os.environ, "DSPY_CACHEDIR": str(out / "unused"), "PYTHONPATH": ""}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(out), str(log)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finished(out):
    file = out / "ircot" / "predictions.jsonl"
    return file.read_text().count("\n") if file.is_file() else 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The same run, never stopped: its table and its calls."""
    out = tmp_path_factory.mktemp("whole")
    log = out / "log.txt"
    process = start(out / "run", log)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    return table(out / "run" / "ircot"), sorted(log.read_text().splitlines())


@pytest.mark.parametrize(("how", "in_flight"), [(signal.SIGINT, 0), (signal.SIGKILL, 4)])
def test_stopped_at_a_random_question_it_goes_on_and_ends_with_the_same_table(tmp_path, whole, how, in_flight):
    expected, calls = whole
    out, log = tmp_path / "run", tmp_path / "log.txt"
    rng = random.Random(how)
    stops = 0
    for _ in range(2):
        process = start(out, log)
        least = finished(out) + rng.randint(2, 7)
        while process.poll() is None and finished(out) < least:
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(how)
            stops += 1
        process.communicate(timeout=120)
    assert stops
    process = start(out, log)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    assert table(out / "ircot") == expected
    made = log.read_text().splitlines()
    assert set(made) == set(calls)
    # Only a call that the kill cut off, before its answer was there, is made again.
    assert len(made) - len(calls) <= in_flight * stops


@pytest.mark.parametrize("place", [0, 3, 9])
def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path, monkeypatch, place):
    run(tmp_path / "whole")
    expected = table(tmp_path / "whole" / "rag")
    add, count = GrowingFile.add, []

    def full(self, record):
        if self.path.name == "predictions.jsonl":
            count.append(1)
            if len(count) > place:
                raise OSError(errno.ENOSPC, "No space left on device")
        add(self, record)

    lm = scripted_lm(replies)
    monkeypatch.setattr(GrowingFile, "add", full)
    with pytest.raises(OSError, match="No space left"):
        run(tmp_path / "full", lm, workers=1)
    monkeypatch.setattr(GrowingFile, "add", add)
    run(tmp_path / "full", lm, workers=1)
    assert table(tmp_path / "full" / "rag") == expected
    assert len(lm.engine.calls) == 10


def test_two_processes_in_one_folder_are_refused_while_it_is_scored_too(tmp_path):
    lm = scripted_lm(replies)

    def other_process(*_):
        with pytest.raises(AspectragError, match="another process is writing into this folder"):
            evaluate(programs(), questions(2), tmp_path, metrics=[], lm=lm, progress=False)
        return 1.0

    metric = Metric("meanwhile", "", other_process)
    evaluate(programs(), questions(2), tmp_path, metrics=[metric], lm=lm, progress=False)
    with alone(tmp_path):
        other_process()
    with pytest.raises(AspectragError, match="is a run itself"):
        evaluate(programs(), questions(2), tmp_path / "rag", metrics=[], lm=lm, progress=False)


def test_a_folder_of_another_run_is_refused_and_says_what_differs(tmp_path):
    run(tmp_path)
    lm = scripted_lm(replies)

    def again(config, asked):
        with dspy.context(lm=lm):
            ask_all(programs(), asked, tmp_path, {"rag": config}, progress=False)

    with pytest.raises(AspectragError, match=r"another lm \(None, not 'x'\)"):
        again({"method": "rag", "lm": "x"}, questions())
    with pytest.raises(AspectragError, match="other questions"):
        again({"method": "rag"}, questions(9))
    again({"method": "rag", "metrics": ["em"], "workers": 3}, questions())
    assert not lm.engine.calls
    (tmp_path / "own" / "rag").mkdir(parents=True)
    (tmp_path / "own" / "rag" / "notes.txt").write_text("mine")
    with pytest.raises(AspectragError, match="holds other files"):
        run(tmp_path / "own")


def test_no_question_and_questions_with_one_id_are_refused(tmp_path):
    with pytest.raises(AspectragError, match="no question"), dspy.context(lm=scripted_lm(replies)):
        ask_all(programs(), [], tmp_path, CONFIGS)
    with pytest.raises(AspectragError, match="two questions have the id 'q0'"):
        run(tmp_path, asked=[*questions(2), *questions(1)])


def test_a_failed_question_stops_no_other_is_no_answer_and_is_asked_again(tmp_path):
    def reply(call):
        if "number 3?" in call.prompt:
            return RuntimeError("it fell over")
        return replies(call)

    one = run(tmp_path, scripted_lm(reply))
    records = {question.id: record for question, record in one.answers()}
    assert records["q3"]["answer"] is None
    assert "it fell over" in records["q3"]["error"]
    assert sum(record["error"] is None for record in records.values()) == 9
    assert one.manifest["failed"] == 1
    lm = scripted_lm(replies)
    again = run(tmp_path, lm)
    assert len(lm.engine.calls) == 1
    assert {q.id: r["answer"] for q, r in again.answers()}["q3"] == "Answer 1. [1]"


def test_a_server_that_is_gone_ends_the_run(tmp_path):
    calls = []

    def reply(call):
        calls.append(1)
        return RateLimitError("slow down") if len(calls) > 2 else replies(call)

    with pytest.raises(dspy.LMError):
        run(tmp_path, scripted_lm(reply), workers=1)
    assert len(calls) < 40
    records = [record for _, record in Run(tmp_path / "rag").answers()]
    assert sum(record["error"] is None for record in records) == 2
    assert all(record["answer"] is None for record in records if record["error"])
    run(tmp_path)
    assert all(record["error"] is None for _, record in Run(tmp_path / "rag").answers())


def test_questions_that_no_server_would_answer_end_no_run(tmp_path):
    def reply(call):
        refused = any(f"number {n}?" in call.prompt for n in range(7))
        return InvalidRequestError("the prompt is too long") if refused else replies(call)

    for _ in range(2):  # a finished run asks them alone
        one = run(tmp_path, scripted_lm(reply))
        assert one.manifest["failed"] == 7


def test_a_question_asked_again_at_the_end_counts_all_that_it_took(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "_PAUSES", (0.01, 0.01))
    down = [True, True]

    def reply(call):
        n = call.prompt.count("thought of")
        if "answered" in call.fields:
            return {"thought": f"coal thought of {n}", "answered": n >= 1}
        return RateLimitError("busy") if down and down.pop() else {"answer": "So.", "citations": []}

    lm = scripted_lm(reply)
    with dspy.context(lm=lm):
        ask_all({"ircot": Ircot(None, retriever())}, questions(1), tmp_path, {"ircot": {}}, progress=False)
    ((_, record),) = Run(tmp_path / "ircot").answers()
    assert record["error"] is None
    assert len(lm.engine.calls) == 5  # two thoughts, and the answer at the third attempt
    assert (record["usage"]["lm_calls"], record["usage"]["cached_calls"]) == (3, 0)
    assert record["usage"]["prompt_tokens"] == sum(len(c.prompt.split()) for c in lm.engine.calls[:2]) + len(
        lm.engine.calls[-1].prompt.split()
    )


@pytest.mark.parametrize("content", ["", "null", "[]", "5", "{}", "{", "\udcff"])
@pytest.mark.parametrize("name", ["config.yaml", "manifest.json", "questions.jsonl", "predictions.jsonl"])
def test_a_damaged_file_of_a_run_is_told_in_one_line_or_does_no_harm(tmp_path, name, content):
    first = table(run(tmp_path).path)
    (tmp_path / "rag" / name).write_bytes((content + "\n").encode("utf-8", "surrogateescape"))
    said, again = "", first
    try:
        run(tmp_path)
        again = table(tmp_path / "rag")
    except AspectragError as error:
        said = str(error)
    assert (str(tmp_path) in said and "\n" not in said) if said else again == first


def test_damaged_answers_of_an_earlier_attempt_are_asked_again(tmp_path):
    (tmp_path / ".answers").write_text("this is none")
    assert all(record["error"] is None for _, record in run(tmp_path).answers())


def test_the_cache_of_the_user_is_left_alone(tmp_path):
    before = dspy.cache
    run(tmp_path)
    assert dspy.cache is before


def test_a_question_asked_again_counts_the_calls_of_the_attempt_that_answered_it(tmp_path):
    """The second of three calls fails at first."""
    broken = [True]

    def reply(call):
        n = call.prompt.count("thought of")
        if broken[0] and n == 1:
            return RuntimeError("later")
        if "answered" in call.fields:
            return {"thought": f"coal thought of {n}", "answered": n >= 1}
        return {"answer": "So.", "citations": []}

    def ask():
        lm = scripted_lm(reply)
        with dspy.context(lm=lm):
            ask_all({"ircot": Ircot(None, retriever())}, questions(1), tmp_path, {"ircot": {}}, progress=False)
        ((_, record),) = Run(tmp_path / "ircot").answers()
        return record, len(lm.engine.calls)

    record, calls = ask()
    assert "later" in record["error"]
    assert (record["usage"]["lm_calls"], calls) == (2, 2)
    broken[0] = False
    record, calls = ask()
    assert record["error"] is None
    # The first call had been answered before, but its cache went with the finished run: asked, and paid, anew.
    assert (record["usage"]["lm_calls"], record["usage"]["cached_calls"], calls) == (3, 0, 3)
