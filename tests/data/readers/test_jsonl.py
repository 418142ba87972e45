import gzip
import json

import pytest
from aspectrag.data.readers.jsonl import read_jsonl
from aspectrag.data.readers.report import Ledger, UnreadableError
from aspectrag.data.readers.source import Source


def load(path):
    ledger = Ledger()
    ledger.open(str(path))
    return list(read_jsonl(Source(path, path.name), ledger)), ledger.report().problems


@pytest.fixture
def load_records(tmp_path):
    def run(*records, encoding="utf-8", newline="\n", name="corpus.jsonl"):
        lines = [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]
        data = (newline.join(lines) + newline).encode(encoding)
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return load(path)

    return run


def test_own_schema(load_records):
    [document], problems = load_records({"id": "d1", "title": "Danube", "text": "A river.", "year": 1990})
    assert (document.id, document.title, document.text) == ("d1", "Danube", "A river.")
    assert document.meta == {"year": 1990}
    assert not problems


def test_beir_schema(load_records):
    [document], _ = load_records({"_id": "d1", "title": "Danube", "text": "A river.", "metadata": {"url": "u"}})
    assert (document.id, document.title, document.text, document.meta) == ("d1", "Danube", "A river.", {"url": "u"})


def test_beir_title_without_text_is_kept(load_records):
    [document], problems = load_records({"_id": "d1", "title": "Danube", "text": ""})
    assert document.contents.strip() == "Danube"
    assert not problems


@pytest.mark.parametrize(
    ("record", "title", "text"),
    [
        ({"contents": "Danube\nA river.\nIn Europe."}, "Danube", "A river.\nIn Europe."),
        ({"contents": '"Danube"\nA river.'}, "Danube", "A river."),
        ({"contents": "A river."}, "", "A river."),
        ({"contents": "Danube\nA river.", "title": "Danube"}, "Danube", "A river."),
        ({"contents": '"Danube"\nA river.', "title": "Danube"}, "Danube", "A river."),
        ({"contents": '"Danube"\nA river.', "title": '"Danube"'}, "Danube", "A river."),
        ({"contents": "A river.\nIn Europe.", "title": "Danube"}, "Danube", "A river.\nIn Europe."),
        ({"contents": "Danube\nA river.", "title": "Danube", "text": "A river."}, "Danube", "A river."),
        ({"contents": "long " * 100 + "\nrest"}, "", "long " * 100 + "\nrest"),
    ],
)
def test_flashrag_schema(load_records, record, title, text):
    [document], problems = load_records({"id": "0", **record})
    assert (document.title, document.text) == (title, text)
    assert not problems


def test_ids(load_records):
    documents, problems = load_records(
        {"id": 7, "text": "a"},
        {"id": 0, "text": "b"},
        {"id": 12345678901234567890123456789, "text": "c"},
        {"id": " spaces and\ttabs ", "text": "d"},
        {"id": "", "text": "e"},
        {"text": "e2"},
        {"id": None, "text": "e3"},
        {"id": ["x"], "text": "f"},
        {"id": True, "text": "g"},
        {"_id": "beir", "id": "own", "text": "h"},
    )
    ids = [document.id for document in documents]
    assert ids[:4] == ["7", "0", "12345678901234567890123456789", " spaces and\ttabs "]
    assert ids[-1] == "beir"
    assert len(set(ids)) == 8
    assert [(p.line, "id is a" in p.reason) for p in problems] == [(8, True), (9, True)]


def test_a_derived_id_depends_on_the_text_alone(load_records):
    [first, _], _ = load_records({"text": "same"}, {"text": "other"})
    [_, second], _ = load_records({"text": "other"}, {"text": "same"}, name="elsewhere.jsonl")
    assert first.id == second.id


def test_broken_lines_are_named_and_the_rest_is_kept(load_records):
    documents, problems = load_records(
        {"id": 1, "text": "a"},
        '{"id": 2, "text": "b"',
        "",
        "[1, 2]",
        {"id": 3, "question": "who?"},
        {"id": 4, "text": "  \t"},
        {"id": 5, "text": ["list"]},
        "[" * 5000,
        '{"id": 6, "text": ' + "9" * 5000 + "}",
        {"id": 7, "text": "z"},
    )
    assert [document.id for document in documents] == ["1", "7"]
    assert [problem.line for problem in problems] == [2, 4, 5, 6, 7, 8, 9]
    assert all(problem.path.endswith("corpus.jsonl") for problem in problems)
    reasons = [problem.reason for problem in problems]
    assert "not JSON" in reasons[0]
    assert "column" in reasons[0]
    assert "list" in reasons[1]
    assert "question" in reasons[2]
    assert "blank" in reasons[3]


def test_unusual_characters_survive(load_records):
    text = "line\u2028separator \u2029 next\x85line 😀 \U0002070e tab\tend"
    [plain], _ = load_records({"id": "a\u2028b", "text": text})
    [escaped], problems = load_records(json.dumps({"id": "a\u2028b", "text": text}))
    assert plain == escaped
    assert plain.text == text
    assert plain.id == "a\u2028b"
    assert not problems


def test_raw_tab_in_a_string_is_let_pass(load_records):
    [document], _ = load_records('{"id": "1", "text": "a\tb"}')
    assert document.text == "a\tb"


def test_lone_surrogates_become_replacement_characters_everywhere(load_records):
    [document], _ = load_records(r'{"id": "a\ud83d", "title": "\udc00", "text": "x\ud83d\ude00\ud83d", "k": "\ud800"}')
    assert (document.id, document.title, document.text) == ("a\ufffd", "\ufffd", "x😀\ufffd")
    json.dumps(document.to_dict(), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz"])
def test_encodings_and_line_ends(load_records, encoding, newline, name):
    documents, problems = load_records(
        {"id": "1", "text": "Plain first."},
        {"id": "2", "text": "Où est la bibliothèque ? Elle a été fermée à Noël."},
        {"id": "3", "text": "first\r\nsecond"},
        encoding=encoding,
        newline=newline,
        name=name,
    )
    assert [document.text for document in documents] == [
        "Plain first.",
        "Où est la bibliothèque ? Elle a été fermée à Noël.",
        "first\nsecond",
    ]
    assert not problems


def test_korean_code_page(load_records):
    [document], _ = load_records({"id": "1", "text": "대한민국의 수도는 서울이다."}, encoding="cp949")
    assert document.text == "대한민국의 수도는 서울이다."


def test_a_damaged_line_of_a_utf8_file_is_kept_and_named(tmp_path):
    path = tmp_path / "c.jsonl"
    lines = ['{"id": "1", "text": "Grüße"}'.encode(), b'{"id": "2", "text": "bad \xff byte"}', "é".encode() * 3]
    path.write_bytes(b"\n".join(lines))
    documents, problems = load(path)
    assert documents[1].text == "bad \ufffd byte"
    assert [problem.line for problem in problems] == [2, 3]


def test_truncated_gzip_keeps_what_came_before(tmp_path):
    path = tmp_path / "c.jsonl.gz"
    lines = "".join(json.dumps({"id": i, "text": f"text {i * 7919 % 1000003}"}) + "\n" for i in range(20000))
    data = gzip.compress(lines.encode())
    path.write_bytes(data[: len(data) // 2])
    documents, problems = load(path)
    assert 5000 < len(documents) < 15000
    assert documents[-1].id == str(len(documents) - 1)
    assert "truncated" in problems[-1].reason
    assert problems[-1].line


@pytest.mark.parametrize(
    "data",
    [b"not gzip", gzip.compress(b"{}")[:5], gzip.compress(b'{"text": "a"}\n' * 9)[:-6]],
    ids=["other bytes", "cut in its header", "cut in its checksum"],  # the bytes hold the time of packing
)
def test_other_damaged_gzip_is_a_problem_not_a_crash(tmp_path, data):
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(data)
    _, problems = load(path)
    assert "gzip" in problems[-1].reason


@pytest.mark.parametrize("data", [b"", b"\n \n\r\n"])
def test_empty_file(tmp_path, data):
    path = tmp_path / "c.jsonl"
    path.write_bytes(data)
    with pytest.raises(UnreadableError, match="empty"):
        load(path)


def test_a_file_of_another_schema_is_given_up(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "who?"}\n' * 5000, encoding="utf-8")
    documents, problems = load(path)
    assert not documents
    assert len(problems) <= 1001
