"""``aspectrag data build``: folders that are written, how they go on, and what is refused."""

import json

import dspy
import pytest
from aspectrag.app import build_compound, build_nfqa, cli, data_build
from aspectrag.data.benchmarks.loading import load
from aspectrag.data.construction.splitting import disjoint
from aspectrag.lms import scripted_lm


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setattr(cli, "_app", lambda: data_build.app)

    def call(*arguments):
        code = cli.run([*map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def model(monkeypatch):
    def use(reply):
        lm = scripted_lm(reply, cache=False)
        lm.model = "scripted/x"
        for module in (build_compound, build_nfqa):
            monkeypatch.setattr(module, "load", lambda *args, **kwargs: lm)
            monkeypatch.setattr(module, "roles", dict)
        return lm.engine

    return use


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# --- compound -------------------------------------------------------------------------------------------------------

FACTS = ("founder", "river", "colour", "mayor")


def corpus(tmp_path, towns=10):
    records = [
        {"id": f"{town}-{fact}", "title": f"Town{town}", "text": f"The {fact} of Town{town} is {fact}ish{town} now."}
        for town in range(towns)
        for fact in FACTS
    ]
    return written(tmp_path / "towns.jsonl", records)


def about_towns(call):
    if call.fields == ("question", "answer"):
        _, fact, _, town, _, answer, _ = call.inputs["passage"].split()
        return {"question": f"What is the {fact} of {town}?", "answer": answer}
    asked = json.loads(call.inputs["questions"])
    facts = [question.split()[3] for question in asked]
    together = call.inputs["entity"] != "Town3"
    return {
        "can_be_joined": together,
        "question": f"What are the {' and the '.join(facts)} of {call.inputs['entity']}?",
    }


def test_compound_questions_over_a_corpus(run, model, tmp_path):
    model(about_towns)
    out = tmp_path / "out"
    code, said, err = run("compound", corpus(tmp_path), "--out", out, "--dev", 0.2, "--test", 0.2)
    assert (code, err) == (0, "")
    parts = {name: lines(out / f"{name}.jsonl") for name in ("tune", "dev", "test")}
    records = [record for part in parts.values() for record in part]
    assert {record["meta"]["entity"] for record in records} == {f"Town{n}" for n in range(10) if n != 3}
    assert f"{out}: {len(records)} compound questions, 40 passages" in said
    disjoint(parts["tune"], parts["dev"] + parts["test"])
    disjoint(parts["dev"], parts["test"])
    one = records[0]
    assert one["answers"] == [" && ".join(part["answers"][0] for part in one["sub_questions"])]
    assert all(part["supporting_id"] in one["supporting_ids"] for part in one["sub_questions"])
    assert one["meta"]["made_by"] == "scripted/x"
    assert len(lines(out / "corpus.jsonl")) == 40
    assert len(load("compound", "tune", out)) == len(parts["tune"])


def test_a_stopped_build_goes_on_and_ends_the_same(run, model, tmp_path):
    docs, out, whole = corpus(tmp_path), tmp_path / "out", tmp_path / "whole"
    model(about_towns)
    assert run("compound", docs, "--out", whole)[0] == 0
    model(lambda call: about_towns(call) if "Town1" not in call.prompt else dspy.LMServerError("boom"))
    assert run("compound", docs, "--out", out, "--workers", 1)[0] == 1  # four calls in a row fail
    assert len(lines(out / "work" / "easy.jsonl")) < 40
    engine = model(about_towns)
    assert run("compound", docs, "--out", out)[0] == 0
    assert contents(out) == contents(whole)
    assert contents(out / "work") == contents(whole / "work")
    assert 0 < len(engine.calls) < 40 + 20
    engine = model(about_towns)
    assert run("compound", docs, "--out", out)[0] == 0
    assert not engine.calls
    assert contents(out) == contents(whole)


def test_refused_questions_cost_their_passage_alone(run, model, tmp_path):
    def reply(call):
        said = about_towns(call)
        return {**said, "answer": "elsewhere"} if "mayorish4" in call.inputs.get("passage", "") else said

    model(reply)
    out = tmp_path / "out"
    code, _, err = run("compound", corpus(tmp_path), "--out", out)
    assert code == 0
    assert err == "! 4-mayor: no easy question: the answer 'elsewhere' is not in the passage\n"
    assert "mayorish4" not in (out / "tune.jsonl").read_text() + (out / "dev.jsonl").read_text()


def single(n, title):
    return {"id": f"q{n}", "question": f"who is number {n}", "answers": [f"A{n}"], "hops": 1,
            "supporting_titles": [title], "supporting_ids": [f"p{n}"]}  # fmt: skip


def test_questions_are_joined_without_a_model(run, model, tmp_path):
    engine = model(lambda call: "never asked")
    out = tmp_path / "out"
    questions = written(tmp_path / "q.jsonl", [single(n, f"T{n // 2}") for n in range(40)])
    code, said, err = run("compound", "--from-questions", questions, "--out", out)
    assert (code, err) == (0, "")
    assert not engine.calls
    assert "20 compound questions, 0 passages" in said
    assert [len(lines(out / f"{name}.jsonl")) for name in ("tune", "dev", "test")] == [16, 2, 2]
    one = lines(out / "dev.jsonl")[0]
    first, second = one["sub_questions"]
    assert one["question"] == f"{first['question']} Also, {second['question'][0].lower()}{second['question'][1:]}"
    assert sorted(path.name for path in out.iterdir()) == ["dev.jsonl", "test.jsonl", "tune.jsonl"]
    assert run("compound", "--from-questions", questions, "--out", out, "--test", 0)[0] == 0
    assert sorted(path.name for path in out.iterdir()) == ["dev.jsonl", "tune.jsonl"]


def test_a_text_under_two_ids_is_one_passage(run, model, tmp_path):
    questions = [single(n, f"T{n // 2}") for n in range(40)]
    # The same texts under other ids and titles, as where two sets are over one encyclopedia.
    passages = [{"id": f"p{n}", "title": f"T{n // 2}", "text": f"Text {n % 20}."} for n in range(40)]
    source = written(tmp_path / "q.jsonl", questions)
    docs = written(tmp_path / "docs.jsonl", passages)
    out = tmp_path / "out"
    code, said, err = run("compound", docs, "--from-questions", source, "--out", out, "--dev", 0.2, "--test", 0.2)
    assert (code, err) == (0, "")
    assert "20 compound questions, 20 passages" in said
    held = {one["id"]: one["text"] for one in lines(out / "corpus.jsonl")}
    assert len(set(held.values())) == len(held) == 20
    parts = [lines(out / f"{name}.jsonl") for name in ("tune", "dev", "test")]
    used = [{held[one] for record in part for one in record["supporting_ids"]} for part in parts]
    assert sum(map(len, used)) == len(set.union(*used)) == 20
    about = {record["meta"]["entity"]: index for index, part in enumerate(parts) for record in part}
    assert all(about[f"T{n}"] == about[f"T{n + 10}"] for n in range(10))


def test_a_passage_that_is_named_is_kept_under_another_title(run, model, tmp_path):
    source = written(tmp_path / "q.jsonl", [single(n, f"T{n // 2}") for n in range(40)])
    passages = [{"id": f"p{n}", "title": f"T{n // 2}", "text": f"Text {n}."} for n in range(40)]
    docs = written(tmp_path / "docs.jsonl", [{"id": "z", "title": "Elsewhere", "text": "Text  0."}, *passages])
    assert run("compound", docs, "--from-questions", source, "--out", tmp_path / "out")[0] == 0
    held = [one["id"] for one in lines(tmp_path / "out" / "corpus.jsonl")]
    assert held == ["z", *(f"p{n}" for n in range(1, 40))]


def test_a_text_under_two_titles_is_asked_about_once(run, model, tmp_path):
    engine = model(about_towns)
    docs = corpus(tmp_path)
    written(docs, [*lines(docs), *({**one, "id": f"x{one['id']}", "title": f"X{one['title']}"} for one in lines(docs))])
    out = tmp_path / "out"
    assert run("compound", docs, "--out", out, "--dev", 0.2, "--test", 0.2)[0] == 0
    assert sum(call.fields == ("question", "answer") for call in engine.calls) == 40
    assert len(lines(out / "corpus.jsonl")) == 40


def test_what_asks_for_number_one_is_in_one_part(run, model, tmp_path):
    hit = {"id": "h", "question": "who had the #1 hit in 1956", "answers": ["Ann"], "hops": 1}
    twice = [{**hit, "id": f"h{title}", "supporting_titles": [title], "supporting_ids": []} for title in ("T0", "T1")]
    source = written(tmp_path / "q.jsonl", [*twice, *(single(n, f"T{n // 3}") for n in range(60))])
    for seed in range(6):
        out = tmp_path / f"out{seed}"
        code, _, err = run(
            "compound", "--from-questions", source, "--out", out, "--seed", seed, "--dev", 0.3, "--test", 0.3
        )
        assert (code, err) == (0, "")
        assert sum("#1 hit" in (out / f"{name}.jsonl").read_text() for name in ("tune", "dev", "test")) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give a CORPUS to ask about, or --from-questions"),
        (("--from-questions", "alone.jsonl"), "no two questions are about the same title"),
        (("--from-questions", "broken.jsonl"), "line 1"),
        (("--from-questions", "none.jsonl"), "none.jsonl"),
        (("--from-questions", "uneven.jsonl"), 'uneven.jsonl, line 1 is no question with answers: "sub_questions" has'),
        (("--from-questions", "endless.jsonl"), 'endless.jsonl, line 1 is no question with answers: "qrels" is not'),
        (("--from-questions", "null.json"), "null.json is neither a list of records nor a record but a NoneType"),
        (("towns.jsonl", "--dev", 0.6, "--test", 0.5), "leave nothing for tune.jsonl"),
        (("untitled.jsonl",), "no title has two passages"),
        (("--from-questions", "pair.jsonl"), "part can be split off"),
    ],
)
def test_unusable_input_is_told_in_one_line(run, model, tmp_path, monkeypatch, arguments, words):
    engine = model(lambda call: "never asked")
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path)
    written(tmp_path / "alone.jsonl", [single(1, "A"), single(2, "B")])
    written(tmp_path / "pair.jsonl", [single(1, "A"), single(2, "A")])
    written(tmp_path / "broken.jsonl", [{"question": " ", "answers": []}])
    parts = {"question": ["a", "b"], "answers": [["c"]]}
    written(tmp_path / "uneven.jsonl", [{**single(1, "A"), "sub_questions": parts}])
    written(tmp_path / "endless.jsonl", [{**single(1, "A"), "qrels": {"p": float("inf")}}])
    (tmp_path / "null.json").write_text("null")
    written(tmp_path / "untitled.jsonl", [{"id": str(n), "text": f"Text {n}."} for n in range(3)])
    code, said, err = run("compound", *arguments, "--out", "out")
    assert (code, said) == (1, "")
    assert err.startswith("aspectrag: ")
    assert err.count("\n") == 1
    assert words in err
    assert not engine.calls


# --- nfqa -----------------------------------------------------------------------------------------------------------

GRADES = {"gold": 2, "better": 3, "good": 3, "flawed": 1, "off_topic": 0}


def about_types(call):
    if call.fields == ("type",):
        word = call.inputs["question"].split()[0]
        return {"type": {"Why": "REASON", "Should": "DEBATE", "Who": "REASON"}.get(word, "FACTOID")}
    if call.fields == ("grades",):
        texts = [one["text"] for one in json.loads(call.inputs["answers"])]
        return {"grades": [next((g for name, g in GRADES.items() if text.startswith(name)), 2) for text in texts]}
    return {name: f"{name} to {call.inputs['question']}" for name in call.fields}


def mixed(tmp_path, name="src.jsonl", many=12):
    records = [
        {"id": f"{name}:{word}{n}", "dataset": "nq", "question": f"{word} is thing {n} so?", "answers": ["['x', 'y']"],
         "meta": {"kept": 1}}
        for word in ("Why", "Should", "Who", "Colour")
        for n in range(many if word == "Why" else 3)
    ]  # fmt: skip
    return written(tmp_path / name, records)


def test_non_factoid_questions_with_graded_answers(run, model, tmp_path):
    model(about_types)
    out = tmp_path / "out"
    code, said, err = run("nfqa", mixed(tmp_path), mixed(tmp_path, "two.jsonl"), "--out", out, "--cap", 8)
    assert (code, err) == (0, "")
    records = lines(out / "dev.jsonl")
    assert f"{out / 'dev.jsonl'}: 16 of 16 sampled questions, from 42" in said
    kinds = [(record["id"].split(":")[0], record["type"]) for record in records]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        ("src.jsonl", "DEBATE"): 3, ("src.jsonl", "REASON"): 5, ("two.jsonl", "DEBATE"): 3, ("two.jsonl", "REASON"): 5,
    }  # fmt: skip
    one = records[0]
    assert one["answers"] == ["x, y"]
    assert [reference["label"] for reference in one["references"]] == [2, 3, 3, 1, 0]
    assert one["references"][0]["text"] == "x, y"
    assert one["meta"] == {"kept": 1, "subset": "nq", "graded_by": "scripted/x"}
    read = load("wiki-nfqa", "dev", out / "dev.jsonl").questions[0]
    assert (read.type, len(read.references)) == (one["type"], 5)


def test_nfqa_goes_on_where_it_was(run, model, tmp_path):
    source, out, whole = mixed(tmp_path), tmp_path / "out", tmp_path / "whole"
    model(about_types)
    assert run("nfqa", source, "--out", whole, "--cap", 6)[0] == 0
    model(lambda call: "no" if call.fields == ("grades",) and "thing 1 " in call.prompt else about_types(call))
    code, _, err = run("nfqa", source, "--out", out, "--cap", 6)
    assert code == 0
    assert all("no grades: the output does not parse" in line for line in err.splitlines())
    failed = len(err.splitlines())
    assert failed > 0
    engine = model(about_types)
    assert run("nfqa", source, "--out", out, "--cap", 6)[0] == 0
    assert len(engine.calls) == 3 * failed
    assert contents(out) == contents(whole)


def test_unusable_questions_are_told_in_one_line(run, model, tmp_path):
    engine = model(lambda call: {"type": "FACTOID"})
    source = mixed(tmp_path)
    copy = written(tmp_path / "copy.jsonl", lines(source))
    assert "the id 'src.jsonl:Why0' is in two files" in run("nfqa", source, copy, "--out", tmp_path / "o")[2]
    assert not engine.calls
    code, _, err = run("nfqa", source, "--out", tmp_path / "o")
    assert (code, err) == (1, "aspectrag: none of the 21 questions is non-factoid, by type and by form\n")
    assert "is a file" in run("nfqa", source, "--out", source)[2]
    assert "src.jsonl is a file" in run("nfqa", source, "--out", source / "b")[2]


def test_help_teaches(run):
    for command, words in {"compound": "ask no model", "nfqa": "LINKAGE", "revelator": "single-step"}.items():
        code, said, _ = run(command, "--help")
        assert code == 0
        assert words in " ".join(said.replace("│", " ").split())
        assert "Example" in said
