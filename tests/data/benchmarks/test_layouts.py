"""Layouts are recognised by what is there; what is wrong is told in one line that names file and line."""

import json

import datasets
import pytest
from aspectrag.data.benchmarks.loading import load
from aspectrag.errors import AspectragError


def lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


OWN = {
    "id": "q1",
    "dataset": "compound",
    "split": "train",
    "question": "When, and who?",
    "answers": ["1910; Ida Voss"],
    "type": "compound-2",
    "hops": 2,
    "supporting_titles": ["Halm"],
    "supporting_ids": ["p1"],
    "support_kind": "annotated",
    "sub_questions": [{"question": "When?", "answers": ["1910"], "supporting_id": "p1"}],
    "meta": {"entity": "Halm", "references": [{"text": "In 1910.", "label": 3}]},
}


def test_records_of_the_library_with_their_corpus(tmp_path):
    lines(tmp_path / "tune.jsonl", [{**OWN, "id": "q0"}])
    lines(tmp_path / "dev.jsonl", [OWN])
    corpus = lines(tmp_path / "corpus.jsonl", [{"id": "p1", "title": "Halm", "text": "A mine."}])
    loaded = load("compound", path=tmp_path)
    (one,) = loaded.questions
    assert (loaded.corpus, loaded.source) == (corpus, str(tmp_path / "dev.jsonl"))
    assert (one.id, one.hops, one.qrels) == ("q1", 2, {"p1": 1})
    assert one.sub_questions == OWN["sub_questions"]
    assert one.references == [{"text": "In 1910.", "label": 3}]
    assert one.meta == {"dataset": "compound", "split": "train", "support_kind": "annotated", "entity": "Halm"}
    assert load("compound", "tune", tmp_path).questions[0].id == "q0"
    assert load("compound", path=tmp_path / "dev.jsonl").corpus == corpus


@pytest.mark.parametrize(
    ("there", "split", "taken"),
    [
        (["hotpot_train_v1.1.jsonl", "hotpot_dev_distractor_v1.jsonl"], "dev", "hotpot_dev_distractor_v1.jsonl"),
        (["hotpot_train_v1.1.jsonl", "hotpot_dev_distractor_v1.jsonl"], "tune", "hotpot_train_v1.1.jsonl"),
        (["train.jsonl", "validation.jsonl", "test.jsonl"], "dev", "validation.jsonl"),
        (["train.jsonl", "test.jsonl"], "dev", "test.jsonl"),
        (["dev.jsonl", "dev_small.jsonl"], "dev", "dev.jsonl"),
    ],
)
def test_the_file_of_a_split_is_found_by_its_name(tmp_path, there, split, taken):
    for name in there:
        lines(tmp_path / name, [{**OWN, "id": name}])
    assert load("compound", split, tmp_path).questions[0].id == taken


def test_parquet(tmp_path):
    rows = [{"question": "who led brix", "answer": ["Ida Voss", "Voss"]}]
    datasets.Dataset.from_list(rows).to_parquet(str(tmp_path / "validation-00000-of-00001.parquet"))
    (one,) = load("nq", path=tmp_path).questions
    assert one.answers == ["Ida Voss", "Voss"]


def test_shards_of_a_split_are_one(tmp_path):
    for number in range(2):
        rows = [{"question": f"who led brix {number}", "answer": ["Ida Voss"]}]
        datasets.Dataset.from_list(rows).to_parquet(str(tmp_path / f"train-0000{number}-of-00002.parquet"))
    loaded = load("nq", "tune", tmp_path)
    assert [q.question for q in loaded.questions] == ["who led brix 0", "who led brix 1"]
    assert loaded.source == str(tmp_path)


def test_passages_of_the_records_go_before_a_corpus_beside_them(tmp_path):
    lines(tmp_path / "corpus.jsonl", [{"id": "p1", "title": "Halm", "text": "A mine."}])
    row = {"id": "1", "title": "Alda", "context": "A river.", "question": "What?", "answers": {"text": ["a river"]}}
    loaded = load("squad", path=lines(tmp_path / "dev.jsonl", [row]))
    assert isinstance(loaded.corpus, tuple)
    assert [p.id for p in loaded.corpus] == loaded.questions[0].supporting_ids


def beir(folder, name="test"):
    lines(folder / "corpus.jsonl", [{"_id": f"d{n}", "title": "", "text": f"Text {n}."} for n in range(4)])
    lines(
        folder / "queries.jsonl",
        [{"_id": "q1", "text": "Why?", "metadata": {"url": "u"}}, {"_id": "q2", "text": "Who?"}],
    )
    (folder / "qrels").mkdir()
    (folder / "qrels" / f"{name}.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td0\t1\nq1\td1\t4\nq1\td2\t3\nq1\td3\t4\n", encoding="utf-8"
    )
    return folder


def test_beir(tmp_path):
    loaded = load("nq", path=beir(tmp_path))
    (one,) = loaded.questions  # q2 has no judgement
    assert (one.id, one.qrels) == ("q1", {"d0": 1, "d1": 4, "d2": 3, "d3": 4})
    assert (one.references, one.answers, one.meta) == ([], [], {"url": "u"})
    assert loaded.corpus == tmp_path / "corpus.jsonl"


def test_graded_answers_become_references(tmp_path):
    (one,) = load("antique", path=beir(tmp_path)).questions
    assert one.qrels == {"d0": 0, "d1": 3, "d2": 2, "d3": 3}
    assert one.supporting_ids == ["d1", "d2", "d3"]
    assert one.references == [
        {"text": "Text 1.", "label": 3}, {"text": "Text 3.", "label": 3}, {"text": "Text 2.", "label": 2},
        {"text": "Text 0.", "label": 0},
    ]  # fmt: skip
    assert one.answers == ["Text 1.", "Text 3."]


def test_queries_qrels_and_collection_of_antique(tmp_path):
    (tmp_path / "antique-train-queries.txt").write_text("1\tWhy?\n2\tWho?\n", encoding="utf-8")
    (tmp_path / "antique-test-queries.txt").write_text('3\tIs "it" so?\n', encoding="utf-8")
    (tmp_path / "antique-train.qrel").write_text("1 U0 1_0 4\n1 U0 1_1 1\n2 Q0 1_1 3\n", encoding="utf-8")
    (tmp_path / "antique-test.qrel").write_text("3 U0 1_0 2\n3 U0 1_1 1\n", encoding="utf-8")
    (tmp_path / "antique-collection.txt").write_text('1_0\tSo it "is.\n1_1\tNo.\tReally.\n', encoding="utf-8")
    tune = load("antique", "tune", tmp_path)
    assert [(q.id, q.qrels) for q in tune.questions] == [("1", {"1_0": 3, "1_1": 0}), ("2", {"1_1": 2})]
    assert isinstance(tune.corpus, tuple)
    assert [(p.id, p.text) for p in tune.corpus] == [("1_0", 'So it "is.'), ("1_1", "No.\tReally.")]
    assert load("antique", "dev", tmp_path).questions[0].references == [
        {"text": 'So it "is.', "label": 1}, {"text": "No.\tReally.", "label": 0},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("dev.jsonl", "", "dev.jsonl holds no question of nq, split dev"),
        ("dev.jsonl", '{"question": "a", "answer": ["b"]}\n{"question": ', "line 2 is not JSON"),
        ("dev.jsonl", '["a"]\n', "line 1 is not a record but a list"),
        ("dev.jsonl", '{"q": "a", "a": "b"}\n', r'line 1 is no record of nq: no "answer" .*\(its keys: q, a\)'),
        ("dev.jsonl", '{"question": " ", "answer": ["b"]}\n', 'line 1 is no record of nq: "question" is blank'),
        ("dev.jsonl", '{"question": "a", "answer": {"b": 1}}\n', 'line 1 is no record of nq: "answer" is not a list'),
        ("dev.jsonl", '{"id": 1, "question": "a", "answer": "b"}\n' * 2, "line 2: the id '1' is that of .*line 1 too"),
        ("dev.jsonl", '{"id": true, "question": "a", "answer": "b"}\n', "its id is a bool"),
        ("dev.jsonl", b'{"question": "\xfc"}\n', "line 1 is not UTF-8"),
        ("dev.jsonl", "[" * 100_000, r"line 1 is not JSON that can be read \(nested too deeply\)"),
        ("dev.jsonl", '{"id": ' + "1" * 5_000 + "}", "line 1 has a number of more than 4,300 digits"),
        ("dev.jsonl", '{"dataset": "squad", "question": "a", "answers": ["b"]}', "it belongs to squad, not to nq"),
        ("dev.jsonl", '{"question": "a", "answers": ["b"], "sub_questions": [7]}', '"sub_questions" is not a list'),
        ("dev.jsonl", '{"question": "a", "answers": ["b"], "hops": "two"}', '"hops" is no whole number'),
        (
            "dev.jsonl",
            '{"question": "a", "answers": ["b"], "sub_questions": {"question": ["a", "b"], "answers": [["c"]]}}',
            'line 1 is no record of nq: "sub_questions" has lists of different lengths',
        ),
        ("dev.jsonl.gz", "no gzip", "is no whole gzip file"),
        ("dev.json", "{broken", "dev.json is not JSON"),
        ("dev.json", '{"train": {}}', "dev.json has no split dev: it has train"),
        ("dev.json", "null", "is neither a list of records nor a record but a NoneType"),
        ("dev.json", "5", "is neither a list of records nor a record but a int"),
        ("dev.json", "true", "is neither a list of records nor a record but a bool"),
        ("dev.json", '"text"', "is neither a list of records nor a record but a str"),
        ("dev.json", '{"dev": {"a": 1}}', "dev.json, split dev: 'a' is not a record but a int"),
        (
            "dev.json",
            '{"dev": null}',
            "dev.json, split dev holds neither a list nor a record of records but a NoneType",
        ),
        ("dev.json", '{"val": "x"}', "dev.json, split val holds neither a list nor a record of records but a str"),
        ("dev.json", '[{"question": "a", "answer": "b"}, 7]', "record 2 is not a record but a int"),
        ("dev.csv", "question,answer\na\n", "line 2 has not as many fields"),
        ("dev.csv", b"question,answer\n\xfc,b\n", "is not UTF-8"),
        ("dev.parquet", "no parquet", "is no parquet file that can be read"),
        ("dev.docx", "x", "no reader for this kind of file"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(AspectragError, match=said) as raised:
        load("nq", path=path)
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


GRADES = ["Infinity", "-Infinity", "NaN", "1e999", "1" * 400, '"1e999"', '"high"', "true", "null", "[1]"]


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize(
    ("name", "record", "said"),
    [
        ("nq", '"answers": ["b"], "qrels": {"p": GRADE}', '"qrels" is not a record of ids and whole numbers'),
        ("nq", '"answers": ["b"], "references": [{"text": "b", "label": GRADE}]', '"references.label" is no finite'),
        ("nq", '"judged": [{"id": "p", "label": GRADE}]', '"label" is no finite number'),
        ("antique", '"judged": [{"id": "p", "label": GRADE, "text": "b"}]', '"label" is no finite number'),
        ("antique", '"lowest": GRADE, "judged": [{"id": "p", "label": 1}]', '"lowest" is no finite number'),
        ("wiki-nfqa", '"answer_list": ["b"], "answer_label": [GRADE]', '"answer_label" is no finite number'),
    ],
    ids=["qrels", "references", "judged", "antique", "lowest", "wiki-nfqa"],
)
def test_a_grade_is_a_finite_number(tmp_path, name, record, said, grade):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"id": "q", "question": "a", ' + record.replace("GRADE", grade) + "}\n", encoding="utf-8")
    with pytest.raises(AspectragError) as raised:
        load(name, path=path)
    assert str(raised.value).startswith(f"{path}, line 1 is no record of {name}: {said}")
    assert "\n" not in str(raised.value)


def test_grades_in_words_and_fractions(tmp_path):
    record = {"id": "q", "question": "a", "answers": ["b"], "qrels": {"p": "2", "r": 1.0}}
    record["references"] = [{"text": "b", "label": 2.5}]
    (one,) = load("nq", path=lines(tmp_path / "dev.jsonl", [record])).questions
    assert one.qrels == {"p": 2, "r": 1}
    assert one.references == [{"text": "b", "label": 2.5}]
    with pytest.raises(AspectragError, match=r'line 1 .*"qrels" is not a record of ids and whole numbers'):
        load("nq", path=lines(tmp_path / "dev.jsonl", [{**record, "qrels": {"p": 0.5}}]))


@pytest.mark.parametrize("body", [7, ["b"], {"b": 1}, True, 0, []])
def test_an_answer_that_was_judged_is_a_text(tmp_path, body):
    record = {"id": "q", "question": "a", "judged": [{"id": "p", "label": 1, "text": body}]}
    said = rf'dev.jsonl, line 1 is no record of antique: "text" of what was judged is a {type(body).__name__}, not'
    with pytest.raises(AspectragError, match=said):
        load("antique", path=lines(tmp_path / "dev.jsonl", [record]))


def test_what_is_wrong_with_a_folder_is_one_line(tmp_path):
    with pytest.raises(AspectragError, match="does not exist: give a file or a folder"):
        load("nq", path=tmp_path / "none")
    with pytest.raises(AspectragError, match="no file of split dev: there is no file of questions"):
        load("nq", path=tmp_path)
    lines(tmp_path / "train.jsonl", [OWN])
    with pytest.raises(AspectragError, match=r"no file of split dev: there is train.jsonl; give the file itself"):
        load("nq", path=tmp_path)
    lines(tmp_path / "a-dev.jsonl", [OWN])
    lines(tmp_path / "b-dev.jsonl", [OWN])
    with pytest.raises(AspectragError, match=r"several files of split dev: a-dev.jsonl, b-dev.jsonl; give one"):
        load("nq", path=tmp_path)


def test_what_is_wrong_with_a_beir_folder_is_one_line(tmp_path):
    folder = beir(tmp_path, "train")
    with pytest.raises(AspectragError, match=r"qrels has no file of split dev \(dev.tsv …\): train.tsv"):
        load("nq", path=folder)
    for grade in ("high", "inf", "nan", "1e999"):
        judged = f"query-id\tcorpus-id\tscore\nq1\td0\t{grade}\n"
        (folder / "qrels" / "dev.tsv").write_text(judged, encoding="utf-8")
        with pytest.raises(AspectragError, match=r"dev.tsv, line 2 is no judgement: query-id, corpus-id, score"):
            load("nq", path=folder)
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n", encoding="utf-8")
    with pytest.raises(AspectragError, match="no query has a judgement"):
        load("nq", path=folder)


def test_halves_of_surrogate_pairs_are_mended(tmp_path):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"question": "half \\ud83d?", "answer": ["\\ud83d\\ude00"]}\n', encoding="utf-8")
    loaded = load("nq", path=path)
    assert (loaded.questions[0].question, loaded.questions[0].answers) == ("half �?", ["😀"])
    assert len(loaded.digest) == 64


def test_json_lines_under_the_name_of_json(tmp_path):
    path = lines(tmp_path / "dev.json", [{"question": "a", "answer": "b"}, {"question": "c", "answer": "d"}])
    assert [q.question for q in load("nq", path=path).questions] == ["a", "c"]
