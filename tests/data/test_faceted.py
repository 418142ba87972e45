"""Questions with aspects and sub-answers, read from JSON lines."""

import json

import pytest
from aspectrag.data.faceted import load_faceted
from aspectrag.errors import AspectragError

GOOD = {
    "id": 7,
    "question": " Why coal? ",
    "answers": ["It is cheap. It is dirty.", 5],
    "sub_questions": [
        {"question": "cost", "answers": ["It is cheap.", "another"]},
        {"question": " effects ", "answers": ["It is dirty."]},
    ],
}


def part(question, *answers):
    return {"question": question, "answers": list(answers)}


@pytest.fixture
def write(tmp_path):
    def make(*records, name="train.jsonl"):
        path = tmp_path / name
        lines = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in records]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return make


def test_a_record_becomes_an_example(write):
    (example,) = load_faceted([write(GOOD)])
    assert example.toDict() == {
        "id": "7",
        "question": "Why coal?",
        "aspects": ["cost", "effects"],
        "sub_answers": ["It is cheap.", "It is dirty."],
        "answers": ["It is cheap. It is dirty.", "5"],
    }
    assert example.inputs().toDict() == {"question": "Why coal?"}


@pytest.mark.parametrize("answers", [{}, {"answers": None}, {"answers": []}])
def test_the_whole_answer_may_be_missing(write, answers):
    record = {key: value for key, value in GOOD.items() if key != "answers"} | answers
    (example,) = load_faceted([write(record)])
    assert example.answers == []
    assert len(example.sub_answers) == 2


def test_without_an_id_file_and_line_are_one(write):
    record = {key: value for key, value in GOOD.items() if key != "id"}
    assert [each.id for each in load_faceted([write(record, "", record)])] == ["train.jsonl:1", "train.jsonl:3"]


def test_parts_without_answer_or_question_are_left_out_and_so_is_a_record_of_such(write):
    bare = [
        part("cost"),
        {"question": "none"},
        {"question": "null", "answers": None},
        part("blank", " "),
        part(" ", "x"),
    ]
    records = [
        {"question": "Why?", "sub_questions": bare},
        {"question": "Why not?", "sub_questions": []},
        {"question": " ", "sub_questions": [part("cost", "It is cheap.")]},
        {"question": "Why coal?", "sub_questions": [*bare, part("cost", "It is cheap.")]},
    ]
    (example,) = load_faceted([write(*records)])
    assert (example.question, example.aspects, example.sub_answers) == ("Why coal?", ["cost"], ["It is cheap."])


def test_files_follow_each_other_and_each_gives_as_many_as_are_wanted(write):
    one = write(*({**GOOD, "id": n} for n in range(3)), name="one.jsonl")
    two = write(*({**GOOD, "id": n} for n in range(3, 6)), name="two.jsonl")
    assert [each.id for each in load_faceted([one, str(two)])] == list("012345")
    assert [each.id for each in load_faceted([one, two], limit=2)] == list("0134")
    assert [each.id for each in load_faceted([one], limit=10)] == list("012")
    assert load_faceted([]) == []


def test_what_the_limit_counts_are_examples_and_not_lines(write):
    path = write({"question": "Why?", "sub_questions": []}, "", GOOD, {**GOOD, "id": 8})
    assert [each.id for each in load_faceted([path], limit=1)] == ["7"]


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\u0085", "\r\n", "\n"])
def test_line_ends_within_a_text_do_not_end_a_record(write, end):
    record = {"question": "Why coal?", "sub_questions": [part("cost", f"It is{end}cheap.")]}
    (example,) = load_faceted([write(record)])
    assert example.sub_answers == [f"It is{end}cheap."]


def test_files_of_other_systems_are_read(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_bytes(b"\r\n".join([json.dumps({**GOOD, "question": "为什么?"}, ensure_ascii=False).encode()] * 2))
    assert [each.question for each in load_faceted([path])] == ["为什么?"] * 2


@pytest.mark.parametrize(
    "line",
    [
        "{broken",
        '{"question": "Why?", "sub_questions": [}',
        "[]",
        "null",
        '"Why?"',
        "{}",
        {"question": "Why?"},
        {"question": 5, "sub_questions": []},
        {"question": None, "sub_questions": []},
        {"question": "Why?", "sub_questions": None},
        {"question": "Why?", "sub_questions": ["cost"]},
        {"question": "Why?", "sub_questions": [{"answers": ["It is cheap."]}]},
        {"question": "Why?", "sub_questions": [{"question": 5, "answers": ["It is cheap."]}]},
        {"question": "Why?", "sub_questions": [{"question": "cost", "answers": [5]}]},
        {"question": "Why?", "sub_questions": [{"question": "cost", "answers": {"a": "It is cheap."}}]},
        {"question": "Why?", "sub_questions": [], "answers": 5},
    ],
)
def test_a_line_that_is_no_record_is_named_with_its_number(write, line):
    path = write(GOOD, "", line, GOOD)
    with pytest.raises(AspectragError, match=r"train\.jsonl, line 3: no record") as caught:
        load_faceted([path])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "records", [[], ["", "  "], [{"question": "Why?", "sub_questions": []}]], ids=["nothing", "blank lines", "no parts"]
)
def test_a_file_in_which_nothing_could_be_covered_is_refused(write, records):
    good, bad = write(GOOD, name="good.jsonl"), write(*records)
    with pytest.raises(AspectragError, match=r"train\.jsonl holds no question with sub-answers.*aspectrag data"):
        load_faceted([good, bad])


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(AspectragError, match="cannot be read"):
        load_faceted([tmp_path / "nowhere.jsonl"])
    with pytest.raises(AspectragError, match="cannot be read"):
        load_faceted([tmp_path])
    (tmp_path / "latin.jsonl").write_bytes(b'{"question": "\xe9"}')
    with pytest.raises(AspectragError, match="cannot be read"):
        load_faceted([tmp_path / "latin.jsonl"])
