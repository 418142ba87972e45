"""``aspectrag train-ranker``: from a file of questions to a ranker that ``ask`` uses, and what is refused."""

import json

import pytest
import torch
from aspectrag.app import ask, cli, train_ranker
from aspectrag.lms import scripted_lm
from aspectrag.programs.rankers import pointer
from faceted import ASPECTS, TOPICS, WordEncoder, examples, passages
from fakes import by_fields

torch.set_num_threads(1)


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Documents and questions in files; the encoder is a tiny one."""
    monkeypatch.setattr(train_ranker, "_encoder", lambda _: WordEncoder())
    monkeypatch.setattr(pointer, "_encoder", lambda *_: WordEncoder())
    lines = [json.dumps({"id": p.id, "title": p.title, "text": p.text}) for p in passages()]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    records = [
        {
            "id": e.id, "question": e.question, "answers": e.answers,
            "sub_questions": [{"question": a, "answers": [s]} for a, s in zip(e.aspects, e.sub_answers, strict=True)],
        }
        for e in examples()
    ]  # fmt: skip
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(world, capsys):
    def call(*arguments):
        code = cli.run(["train-ranker", str(world / "q.jsonl"), "--kind", "bm25", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_trained_then_trained_further_then_used(world, run, capsys, monkeypatch):
    docs = ("--docs", world / "docs.jsonl", "--k", 3)
    code, out, _ = run("--out", world / "r", "--epochs", 3, *docs)
    assert code == 0
    assert "validation" in out
    assert {"config.json", "model.safetensors", "report.json"} <= {file.name for file in (world / "r").iterdir()}
    report = json.loads((world / "r" / "report.json").read_text())
    assert len(report["epochs"]) == 3
    assert report["examples"] == {"train": 8, "validation": 2}
    code, out, _ = run("--out", world / "r", "--epochs", 3, *docs)  # all is there already
    assert code == 0

    further = ("--objective", "dpo", "--start", world / "r", "--epochs", 1, "--tau", 0.01)
    code, _, err = run("--out", world / "better", *further, *docs)
    assert code == 0, err
    assert json.loads((world / "better" / "config.json").read_text())["meta"]["trained_by"] == "dpo"

    lm = scripted_lm(by_fields(aspects=list(ASPECTS)))
    monkeypatch.setattr(ask, "load", lambda *_, **__: lm)
    asked = ["ask", f"What about {TOPICS[0]}?", "-m", "rich", "--docs", str(world / "docs.jsonl"), "--kind", "bm25"]
    assert cli.run([*asked, "--ranker", str(world / "better"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["route"] == "rich"
    assert cli.run([*asked, "--ranker", "best"]) == 1
    assert "ranker must be pointer or lm or similarity or retrieval, not 'best'" in capsys.readouterr().err
    assert cli.run([*asked[:3], "rag", *asked[4:], "--ranker", "lm"]) == 1
    assert "--method rag has no --ranker" in capsys.readouterr().err


def test_the_model_rewards_lists_by_its_answers(world, run, monkeypatch):
    docs = ("--docs", world / "docs.jsonl", "--k", 3)
    assert run("--out", world / "r", "--epochs", 1, *docs)[0] == 0

    def reply(call):
        found = json.loads(call.inputs["passages"])
        return {"sentences": [{"sentence": each["text"], "passages": [each["number"]]} for each in found]}

    lm = scripted_lm(reply)
    monkeypatch.setattr(train_ranker, "load", lambda *_, **__: lm)
    given = ("--objective", "dpo", "--start", world / "r", "--reward", "answer", "--epochs", 1, "--samples", 2)
    code, _, err = run("--out", world / "better", *given, *docs, "--limit", 5)
    assert code == 0, err
    assert lm.engine.calls


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "either --index FOLDER or --docs FILES"),
        (("--docs", "{}/docs.jsonl", "--index", "{}"), "either --index FOLDER or --docs FILES"),
        (("--docs", "{}/docs.jsonl", "--start", "{}"), "belong to --objective dpo"),
        (("--docs", "{}/docs.jsonl", "--reward", "answer"), "belong to --objective dpo"),
        (("--docs", "{}/nothing.jsonl"), "does not exist"),
        (("--docs", "{}/docs.jsonl", "--val", "{}/nothing.jsonl"), "cannot be read"),
        (("--docs", "{}/docs.jsonl", "--val", "{}/docs.jsonl"), "line 1: no record"),
        (("--docs", "{}/docs.jsonl", "--objective", "dpo", "--start", "{}"), "holds no ranker"),
        (("--docs", "{}/docs.jsonl", "--objective", "dpo", "--tau", "0"), "tau must be above 0"),
        (("--docs", "{}/docs.jsonl", "--limit", "1"), "0 examples to train on"),
        (("--docs", "{}/docs.jsonl", "--learning-rate", "0"), "learning_rate must be above 0"),
    ],
)
def test_bad_calls_are_one_line_and_leave_nothing(world, run, arguments, words):
    code, out, err = run("--out", world / "r", *(each.format(world) for each in arguments))
    assert code == 1
    assert not out
    assert words in err.splitlines()[-1]
    assert not (world / "r" / "model.safetensors").exists()
