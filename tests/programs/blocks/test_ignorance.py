"""Answers that say there is none, and answers that only sound like it."""

import pytest
from aspectrag.programs.blocks.ignorance import is_unknown


@pytest.mark.parametrize(
    "said",
    [
        "I don't know.",
        "I don’t know",
        "Sorry, I do not know the answer.",
        "I cannot answer this question.",
        "Unknown",
        "unknown.",
        "Not mentioned",
        "N/A",
        "The passages do not mention her husband.",
        "Her birthplace is not specified in the passages.",
        "There is no information about it.",
        "It cannot be determined.",
        "我不知道。",
        "无法确定",
        "分かりません。",
        "Das weiß ich nicht.",
        "Je ne sais pas",
    ],
)
def test_ignorance(said):
    assert is_unknown(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "No",
        "None of the Above (film)",
        "The Unknown Soldier",
        "Unknown Pleasures",
        "Nothing Compares 2 U",
        "He did not know his father.",
        "What is not known is not counted.",
        "The river is 1,047 kilometres long; where exactly its source lies is not known in every detail, and three "
        "springs on the slope of the mountain are each held to be the true one.",
    ],
)
def test_knowledge(said):
    assert not is_unknown(said)


def test_a_long_answer_is_read_in_no_time():
    assert not is_unknown("the passage does not " * 20_000)
