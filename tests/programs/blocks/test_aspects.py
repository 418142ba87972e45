"""Whether an aspect names a side of the question or states a part of the answer."""

import pytest
from aspectrag.programs.blocks.aspects import MOST_WORDS, is_generic


@pytest.mark.parametrize(
    ("aspect", "question"),
    [
        ("economic causes", "Why did Rome fall?"),
        ("the fall of the western empire in the eyes of its people", "Why did Rome fall?"),
        ("life in 410", "How did people in Rome live in 410?"),  # a number of the question
        ("Why did Rome fall so late", "Why did Rome fall?"),
        ("沟通工具", "如何提高团队协作效率？"),
        ("团队成员之间的沟通方式与工具选择", "如何提高团队协作效率？"),
        ("الأسباب الاقتصادية", "لماذا سقطت روما؟"),
    ],
)
def test_a_side_of_the_question_is_general(aspect, question):
    assert is_generic(aspect, question)


@pytest.mark.parametrize(
    ("aspect", "question"),
    [
        ("sacked in 410", "Why did Rome fall?"),
        ("the 4 causes", "Why did Rome fall in 410?"),  # another number
        ("2023年的成本", "为什么煤便宜？"),
        ("٤١٠", "لماذا سقطت روما؟"),
        ("word " * (MOST_WORDS + 1), "Why did Rome fall?"),
        ("团队协作效率取决于成员之间是否经常沟通并且分工明确而且会议简短", "如何提高团队协作效率？"),
        ("why did ROME fall", "Why did Rome fall?"),
        ("如何提高团队协作效率", "如何提高团队协作效率？"),
    ],
)
def test_a_statement_a_number_or_the_question_itself_is_not(aspect, question):
    assert not is_generic(aspect, question)
