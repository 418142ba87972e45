"""Answers that say there is none, and answers that only sound like it."""

import time

import pytest
from aspectrag.programs.blocks.ignorance import is_unknown


@pytest.mark.parametrize(
    "said",
    [
        "I don't know.",
        "I don’t know",
        "  I DO NOT KNOW\n",
        "Sorry, I do not know the answer.",
        "I cannot answer this question.",
        "We can't say.",
        "Unknown",
        "unknown.",
        "Not mentioned",
        "N/A",
        "No answer",
        "The passages do not mention her husband.",
        "The context does not say.",
        "Her birthplace is not specified in the passages.",
        "There is no information about it.",
        "Not enough information.",
        "It cannot be determined.",
        "我不知道。",
        "无法确定",
        "無法確定。",
        "文中没有提到。",
        "分かりません。",
        "わかりません",
        "Das weiß ich nicht.",
        "Ich weiß es nicht.",
        "Je ne sais pas",
        # The same in words that models use no less.
        "It is not known.",
        "There is no information.",
        "I do not have enough information to answer.",
        "The passages don't mention her husband.",
        "Not specified in the passages.",
        # An answer comes with the marks of its sentence, and with the citations that were put to it.
        "“Unknown”",
        "**Unknown**",
        "Unknown [1]",
        "Not mentioned. [1][2]",
    ],
)
def test_ignorance(said):
    assert is_unknown(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "  ",
        "No",
        "no.",
        "Nobody",
        "None of the Above (film)",
        "The Unknown Soldier",
        "Unknown Pleasures",
        "Tomb of the Unknown",
        "Nothing Compares 2 U",
        "No Answer (album)",
        "He did not know his father.",
        "What is not known is not counted.",
        "Knowledge (知识)",
        "不知火型",  # begins like the phrase and is a name
        "Weißenburg, nicht Weißenfels",
        # Whatever is long says something besides.
        "The river is 1,047 kilometres long; where exactly its source lies is not known in every detail, and three "
        "springs on the slope of the mountain are each held to be the true one.",
        "It is not known in which year he was born, and the passages do not mention his father, but he succeeded in "
        "1651, married Rachael four years later, and lived in the house on the river until his death in 1689.",
        "长江全长约6300公里，发源于唐古拉山脉，注入东海，流经十一个省级行政区；它是亚洲最长的河流，古人不知道它真正的源头在"
        "哪里，直到近代才由考察队确定下来。",
    ],
)
def test_knowledge(said):
    assert not is_unknown(said)


@pytest.mark.parametrize(
    "text",
    ["the passage does not " * 20_000, "unknown" + "!" * 200_000 + "x", "not" * 100_000, " " * 200_000 + "x"],
    ids=["words", "marks", "one word", "blanks"],
)
def test_what_a_model_may_write_is_read_in_no_time(text):
    started = time.perf_counter()
    assert not is_unknown(text)
    assert time.perf_counter() - started < 5
