import pytest
from aspectrag.programs.showing.answers import linked, result_of
from aspectrag.programs.showing.rows import Row


def test_only_numbers_that_cite_are_linked():
    record = {"answer": "In [1999], so [2, 1] and [3] [a].", "citations": [{"number": 1}, {"number": 2}]}
    assert [piece for piece in linked(record) if piece[1]] == [("2", 2), ("1", 1)]
    assert "".join(text for text, _ in linked(record)) == record["answer"]
    assert list(linked({"answer": None})) == []


def test_numbers_of_a_sub_answer_are_those_of_its_own_passages():
    part = {"question": "So?", "answer": "So [2], [3].", "passages": [{}, {}]}
    assert [number for _, number in linked(part) if number] == [2]
    assert [number for _, number in linked({"question": "So?", "answer": "So [1]."}) if number] == []


@pytest.mark.parametrize(
    "outputs",
    [
        None, "So.", {"answer": None}, {"answer": "So.", "passages": "all"}, {"answer": "So.", "passages": [{"id": 1}]},
        {"answer": "So.", "sub_questions": [{"question": "So?", "answer": 5}]},
        {"answer": "So.", "sub_questions": [{"question": "So?", "answer": "So.", "passages": ["a"]}]},
        {"answer": "So.", "citations": [1]}, {"answer": "So.", "fallbacks": [{"stage": "x"}]},
    ],
)  # fmt: skip
def test_what_is_no_result_is_not_taken_for_one(outputs):
    assert result_of(Row("program", "Rag", parts={"outputs": outputs})) is None
    assert result_of(Row("module", "x", parts={"outputs": {"answer": "So."}})) is None
