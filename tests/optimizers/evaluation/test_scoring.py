"""From answers to tables: nothing is left out of a mean in silence."""

import csv
import json

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation.run import Run, runs_of
from aspectrag.optimizers.evaluation.runner import ask_all
from aspectrag.optimizers.evaluation.scoring import score
from aspectrag.optimizers.metrics.judge import Judged
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.optimizers.metrics.registry import metric
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from evaluation import EM, TOKENS, failing, questions, replies, retriever
from fakes import PASSAGES


def made(out, reply=replies, count=9):
    with dspy.context(lm=scripted_lm(reply)):
        ask_all({"rag": Rag(AnswerConfig(k=2), retriever())}, questions(count), out, {"rag": {}}, progress=False)
    return Run(out / "rag")


def rows(run):
    with (run.path / "by_category.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_means_are_those_of_the_questions(tmp_path):
    run = made(tmp_path)
    score(run, [EM], ["type", "hops"], progress=False)
    # Answered "Answer n % 2", right is "answer n % 3".
    right = [n % 2 == n % 3 for n in range(9)]
    assert json.loads((run.path / "metrics.json").read_text())["metrics"]["em"]["mean"] == pytest.approx(sum(right) / 9)
    assert [bool(each.scores["em"]) for each in run.scored()] == right


def test_the_categories_sum_to_the_total_and_what_has_none_is_in_none(tmp_path):
    run = made(tmp_path)
    score(run, [EM], ["type", "hops", "unknown"], progress=False)
    table = {(row["category"], row["value"]): row for row in rows(run)}
    assert set(table) == {("all", "all"), ("type", "odd"), ("type", "even"), ("hops", "0"), ("hops", "1")}
    total = {key: float(row["mean"]) * int(row["n"]) for key, row in table.items()}
    assert total["hops", "0"] + total["hops", "1"] == pytest.approx(total["all", "all"])
    assert int(table["hops", "0"]["n"]) + int(table["hops", "1"]["n"]) == int(table["all", "all"]["n"]) == 9
    assert int(table["type", "odd"]["n"]) + int(table["type", "even"]["n"]) == 6


def test_failed_questions_are_listed_score_nothing_and_are_reported_both_ways(tmp_path):
    run = made(tmp_path, failing(0, 1))
    score(run, [EM, TOKENS], progress=False)
    seen = json.loads((run.path / "metrics.json").read_text())
    assert (seen["questions"], seen["answered"]) == (9, 7)
    assert [each["id"] for each in seen["failed"]] == ["q0", "q1"]
    assert all("it fell over" in each["error"] for each in seen["failed"])
    assert seen["metrics"]["em"]["n"] == 9
    assert seen["metrics_of_answered"]["em"]["n"] == 7
    # q0 and q1 would have been right, as q6 and q7 are.
    assert seen["metrics"]["em"]["mean"] == pytest.approx(2 / 9)
    assert seen["metrics_of_answered"]["em"]["mean"] == pytest.approx(2 / 7)
    # What a failed question cost is no low cost.
    assert seen["metrics"]["prompt_tokens"]["n"] == 7


def test_a_metric_that_cannot_score_fails_aloud_and_names_the_question(tmp_path):
    run = made(tmp_path)
    broken = Metric("broken", "", lambda example, _: 1 / (example.id != "q4"))
    with pytest.raises(AspectragError, match="the metric broken cannot score 'q4' \\(ZeroDivisionError"):
        score(run, [broken], progress=False)
    assert not (run.path / "metrics.json").exists()


def test_a_metric_that_does_not_apply_is_left_out(tmp_path):
    run = made(tmp_path)
    some = Metric("some", "", lambda example, _: 1.0 if example.hops else None)
    never = Metric("never", "", lambda *_: None)
    score(run, [some, never], progress=False)
    assert set(run.metrics["metrics"]) == {"some"}
    assert run.metrics["metrics"]["some"]["n"] == 4


def test_what_a_judge_said_is_kept_and_asked_once_per_answer(tmp_path):
    asked = []

    def judge(example, prediction):
        if not prediction.answer:  # as those of the library: nobody is asked about nothing
            return {"judge": 0.0}
        asked.append(example.id)
        return {"judge": 0.5, "bad": None}

    judged = Metric("judge", "", judge, judged=True)
    run = made(tmp_path, failing(2))
    score(run, [judged, EM], progress=False)
    assert sorted(asked) == [f"q{n}" for n in range(9) if n != 2]
    assert run.metrics["metrics"]["judge"]["mean"] == pytest.approx(0.5 * 8 / 9)
    score(Run(run.path), [judged], progress=False)
    assert len(asked) == 8
    made(tmp_path)  # the failed question is asked again
    score(Run(run.path), [judged], progress=False)
    assert asked[8:] == ["q2"]


def test_a_judge_that_is_interrupted_goes_on(tmp_path):
    run, asked = made(tmp_path), []

    def judge(example, prediction):
        asked.append(example.id)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return 1.0

    judged = Metric("judge", "", judge, judged=True)
    with pytest.raises(KeyboardInterrupt):
        score(run, [judged], workers=1, progress=False)
    score(run, [judged], workers=1, progress=False)
    assert len(asked) == 10


def test_the_run_file_is_one_that_others_read(tmp_path):
    run = made(tmp_path)
    score(run, [EM], progress=False)
    lines = [line.split(" ") for line in (run.path / "run.trec").read_text().splitlines()]
    assert all(len(line) == 6 for line in lines)
    assert {line[2] for line in lines} <= {passage.id for passage in PASSAGES}
    for id in {line[0] for line in lines}:
        scores = [float(line[4]) for line in lines if line[0] == id]
        assert scores == sorted(scores, reverse=True)
        assert [line[3] for line in lines if line[0] == id] == [str(n + 1) for n in range(len(scores))]


def test_a_run_that_is_not_scored_or_not_there_is_refused(tmp_path):
    run = made(tmp_path)
    with pytest.raises(AspectragError, match="is not finished"):
        run.scored()
    with pytest.raises(AspectragError, match="holds no run"):
        runs_of(tmp_path / "rag" / "traces")
    assert [each.name.split("/")[1] for each in runs_of(tmp_path)] == ["rag"]


def test_classifiers_get_their_classes_and_the_confusion_matrix(tmp_path):
    run = made(tmp_path, failing(1))
    # "odd" for every question that has a type; q1, which failed, was taken for nothing.
    guess = Metric(
        "guess", "", lambda example, p: None if not example.type else float(example.type == "odd" and bool(p.answer)),
        labels=lambda example, p: (example.type, "odd" if p.answer else "") if example.type else None,
    )  # fmt: skip
    score(run, [guess], progress=False)
    classes = run.metrics["classes"]["guess"]
    assert list(classes["classes"]) == ["", "even", "odd"]
    assert classes["confusion"] == [[0, 0, 0], [0, 0, 3], [1, 0, 2]]
    assert classes["accuracy"] == pytest.approx(2 / 6)


def test_what_looks_like_a_key_in_a_question_or_an_answer_is_data(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "hunter2-hunter2")
    asked = [
        question("hf_squad_00012", "Which film?", ["Basic Instinct"], supporting_ids=["access-token"]),
        question("sk-squad-00013", "Which cup-bearer of Zeus?", ["the basic principles of law"]),
    ]

    def reply(call):
        return {"answer": "Basic Research, or hunter2-hunter2", "citations": [1]}

    with dspy.context(lm=scripted_lm(reply)):
        ask_all({"rag": Rag(None, retriever())}, asked, tmp_path, {"rag": {}}, progress=False)
    run = Run(tmp_path / "rag")
    scored = score(run, [EM, metric("R@5")], progress=False)
    assert [(each.id, each.scores["em"]) for each in scored] == [("hf_squad_00012", 0), ("sk-squad-00013", 0)]
    assert scored[0].scores["R@5"] == 0
    assert [q.answers for q, _ in run.answers()] == [["Basic Instinct"], ["the basic principles of law"]]
    assert all(record["answer"].startswith("Basic Research, or ***") for _, record in run.answers())
    assert not any(b"hunter2" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_another_judge_is_asked_and_a_judge_that_said_nothing_is_asked_again(tmp_path):
    asked = []

    def judge(example, prediction):
        asked.append(example.id)
        return {"good": 1.0, "good_failed": float(example.id == "q3" and len(asked) < 10)}

    judged = Metric("good", "", judge, judged=True, gives=("good", "good_failed"))
    run = made(tmp_path)
    score(run, [judged], judge="a", progress=False)
    assert len(asked) == 9
    score(run, [judged], judge="a", progress=False)
    assert asked[9:] == ["q3"]
    score(run, [judged], judge="b", progress=False)
    assert len(asked) == 19


def test_files_of_a_run_that_were_changed_are_told(tmp_path):
    run = made(tmp_path)
    score(run, [EM], progress=False)
    lines = (run.path / "scores.jsonl").read_text().splitlines(keepends=True)
    (run.path / "scores.jsonl").write_text("".join(lines[:4]))
    with pytest.raises(AspectragError, match="is not whole"):
        Run(run.path).scored()
    lines = (run.path / "questions.jsonl").read_text().splitlines(keepends=True)
    (run.path / "questions.jsonl").write_text("".join(lines[:4]))
    with pytest.raises(AspectragError, match="is not what the run was begun with"):
        list(Run(run.path).answers())


def test_every_verdict_is_kept_the_missing_ones_are_listed_and_draws_have_their_means(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "hunter2-hunter2")
    asked = []

    def judge(example, prediction):
        if not prediction.answer:
            return {"good": 0.0, "good_failed": 0.0}
        asked.append(example.id)
        missing = "no verdict, hunter2-hunter2" if example.id == "q3" else None
        verdicts = [{"failure": None, "scores": {"good": 1.0}}, {"failure": missing, "scores": {"good": 0.0}}]
        return Judged({"good": 0.5, "good_failed": 0.5 if missing else 0.0}, verdicts)

    judged = Metric("good", "", judge, judged=True, gives=("good", "good_failed"))
    run = made(tmp_path, failing(2))
    for total in (8, 9):  # what was judged is read again, the verdict that is missing asked for again
        score(run, [judged], progress=False)
        assert len(asked) == total
        seen = json.loads((run.path / "metrics.json").read_text())
        assert seen["unjudged"] == [{"id": "q3", "metric": "good", "draw": 1, "reason": "no verdict, ***"}]
        first, second = seen["draws"]["good"]
        assert (first["good"]["mean"], first["good"]["n"]) == (pytest.approx(8 / 9), 9)  # q2 failed: 0
        assert second["good"]["mean"] == 0
        assert seen["metrics"]["good"]["mean"] == pytest.approx((first["good"]["mean"] + 0) / 2)
    kept = [json.loads(line) for line in (run.path / "judgements.jsonl").read_text().splitlines()]
    assert all(len(each["detail"]) == 2 for each in kept)
    score(run, [EM], progress=False)
    assert json.loads((run.path / "metrics.json").read_text())["unjudged"] == []
