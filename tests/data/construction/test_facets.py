"""What an annotation must be, and the reason that is given where it is none."""

from contextlib import suppress
from itertools import pairwise

import pytest
from aspectrag.data.construction import FacetError, FacetPart, check_facets
from hypothesis import given
from hypothesis import strategies as st

QUESTION = "Who was Jesse James, and how did the outlaw live?"
ANSWER = (
    "Jesse James grew up in Missouri. His brother Frank James taught him to ride. In 1866 the gang robbed 3 banks. "
    "The economic effects were small, and the causes disputed. He was shot by a member of his own gang. "
    "Domhnall Gleeson played him in a film about the Northern Pacific Railway."
)
GENERIC = [
    "causes", "history", "economic effects", "Legal framework", "Consequences for society", "how it began",
    "Reactions abroad", "Origins and early years", "影响", "历史背景", "経済への影響",
]  # fmt: skip


def parts(*pairs):
    return [FacetPart(*pair) for pair in pairs]


def halves(facet, answer=ANSWER, other="later years"):
    middle = answer.index("." if "." in answer else "。") + 1
    return parts((other, answer[:middle]), (facet, answer[middle:]))


def refused(question, answer, given_parts):
    with pytest.raises(FacetError) as caught:
        check_facets(question, answer, given_parts)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given_parts", "reason"),
    [
        ([], "0 facets, not 2 to 7"),
        (parts(("life", "A. B. C.")), "1 facets, not 2 to 7"),
        (parts(*((f"facet {'x' * n}", "A.") for n in range(8))), "8 facets, not 2 to 7"),
        (parts(("life", "A."), (" \n", "B. C.")), "facet 2 is blank"),
        (parts(("life", "A."), ("?!", "B. C.")), "facet 2 is blank"),
        (parts(("life", "A. B. C."), ("death", " ")), "the part of 'death' is blank"),
        (parts(("Early life", "A."), ("early  life.", "B. C.")), "the facet 'early life.' is there twice"),
        (parts(("life", "A."), ("death", "B.")), "the parts, joined, are not the answer"),
        (parts(("life", "A."), ("death", "A. B. C.")), "the parts, joined, are not the answer"),
        (parts(("life", "A."), ("death", "B. D.")), "the parts, joined, are not the answer"),
        (parts(("life", "B."), ("death", "A."), ("film", "C.")), "the parts are not in the order of the answer"),
        (
            parts(("life", "A."), ("all that happened to him in the years when he was young and poor", "B. C.")),
            "the facet 'all that happened to him in the years when he was young and …' has more than 12 words: "
            "it is not general",
        ),
    ],
)
def test_each_fault_has_its_reason(given_parts, reason):
    assert refused("Who?", "A. B. C.", given_parts) == reason


@pytest.mark.parametrize(
    ("facet", "leak"),
    [
        ("founded in 1866", "1866"),
        ("1866 robbery", "1866"),
        ("3 banks", "3"),
        ("shot by Frank James", "Frank"),
        ("role of Frank", "Frank"),
        ("Frank's lessons", "Frank"),
        ("Domhnall Gleeson", "Gleeson"),
        ("domhnall gleeson played him", "domhnall gleeson played"),  # a name that only begins a sentence
        ("childhood in Missouri", "Missouri"),
        ("Missouri", "Missouri"),
        ("the northern pacific", "northern pacific"),
        ("shot by a member", "shot by a member"),
        ("a member of his own gang", "member of his own gang"),
    ],
)
def test_what_only_the_answer_tells_is_a_leak(facet, leak):
    reason = refused(QUESTION, ANSWER, halves(facet))
    assert reason.startswith(f"the facet '{facet}' tells what only the answer does: ")
    assert leak in reason


@pytest.mark.parametrize(
    "facet",
    [
        *GENERIC,
        "life of Jesse James",
        "Jesse's life as an outlaw",
        "outlaws",
        "the gang",
        "films",
        "Effects",
        "brothers",
    ],
)
def test_general_facets_pass_though_the_answer_has_their_words(facet):
    check_facets(QUESTION, ANSWER, halves(facet))


def test_what_the_question_names_is_no_leak():
    answer = "In 1866 Frank James robbed a bank. He was shot by a member of his own gang."
    question = "What did Frank James do in 1866, and was he shot by a member of his own gang?"
    for facet in ("Frank James in 1866", "shot by a member of his own gang"):
        check_facets(question, answer, halves(facet, answer))
    # Forms of a name are that name; shorter beginnings are not.
    answer = "The Russian army came. It crossed from Crimea to Kerch."
    check_facets("What did Russia do to the Crimean Bridge?", answer, halves("Crimea and Russian plans", answer))
    assert "Kerch" in refused("What did Ker do?", answer, halves("crossing to Kerch", answer))


def test_numbers_are_compared_as_numbers():
    answer = "It began. It cost 1,815 crowns in the 20th year."
    assert "1815" in refused("Why?", answer, halves("why 1815", answer))
    assert "20" in refused("Why?", answer, halves("20th year", answer))
    assert "1815" in refused("Why?", answer, halves("１８１５ crowns", answer))
    check_facets("Why 1815?", answer, halves("the 1815 costs", answer))
    check_facets("Why?", answer, halves("step 2", answer))


@pytest.mark.parametrize(
    ("facet", "leak"),
    [
        ("弗兰克·詹姆斯", "弗兰克詹姆"),
        ("一九九八年的改革", "一九九八年"),
        ("1998年", "1998"),
        ("曹雪芹写的小说", None),
        ("作者生平", None),
        ("对经济的影响", None),
        ("红楼梦的作者与历史", None),
    ],
)
def test_chinese(facet, leak):
    question = "红楼梦是怎样的一部书？"
    answer = "红楼梦的作者是曹雪芹。弗兰克·詹姆斯翻译了它，对经济的影响很小。一九九八年的再版印了1998册。"
    given_parts = halves(facet, answer, "概述")
    if leak is None:
        check_facets(question, answer, given_parts)
    else:
        assert leak in refused(question, answer, given_parts)


def test_blanks_do_not_count_in_the_comparison():
    check_facets("为什么？", "第一句。\n\n第二句。", parts(("原因", "第一句。"), ("影响", "第二句。")))
    check_facets("Why?", " A b.\tC d.\n", parts(("causes", "A  b."), ("effects", "\nC d. ")))


WORDS = st.sampled_from(
    ["zorp", "Blik", "quamt", "1234", "Vex Ool", "the", "of", "钨", "锂", "économie", "causes", "नमस्ते"]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(lambda words: " ".join(words) + ". ")


@st.composite
def annotations(draw):
    sentences = draw(st.lists(SENTENCES, min_size=2, max_size=9))
    count = draw(st.integers(2, min(7, len(sentences))))
    starts = [0, *sorted(draw(st.permutations(range(1, len(sentences))))[: count - 1]), len(sentences)]
    segments = ["".join(sentences[a:b]) for a, b in pairwise(starts)]
    facets = draw(st.permutations(GENERIC))[:count]
    return "".join(sentences), parts(*zip(facets, segments, strict=True))


@given(annotations())
def test_any_cut_of_an_answer_with_general_facets_is_taken(annotation):
    answer, given_parts = annotation
    check_facets("What is it?", answer, given_parts)
    check_facets("What is it?", answer, [FacetPart(p.facet, p.sub_answer.strip()) for p in given_parts])


@given(annotations(), st.data())
def test_any_change_of_a_part_is_refused(annotation, data):
    answer, given_parts = annotation
    number = data.draw(st.integers(0, len(given_parts) - 1))
    text = given_parts[number].sub_answer
    place = data.draw(st.integers(0, len(text) - 1).filter(lambda place: not text[place].isspace()))
    changed = data.draw(
        st.sampled_from(
            [text[:place] + text[place + 1 :], text[:place] + "x!" + text[place:], text[:place] + "#" + text]
        )
    )
    given_parts[number] = FacetPart(given_parts[number].facet, changed)
    refused("What is it?", answer, given_parts)


@given(annotations(), st.data())
def test_any_other_order_of_the_parts_is_refused(annotation, data):
    answer, given_parts = annotation
    shuffled = data.draw(st.permutations(given_parts))
    joined = "".join(part.sub_answer for part in shuffled)
    if joined.split() != answer.split():
        assert "order" in refused("What is it?", answer, shuffled)


@given(st.text(max_size=40), st.text(max_size=80), st.lists(st.text(max_size=20), min_size=2, max_size=7))
def test_no_text_breaks_the_check(question, answer, facets):
    with suppress(FacetError):
        check_facets(question, answer, [FacetPart(facet, answer) for facet in facets])
    with suppress(FacetError):  # parts that restore the answer, so that facets are looked at
        check_facets(question, answer * len(facets), [FacetPart(facet, answer) for facet in facets])
