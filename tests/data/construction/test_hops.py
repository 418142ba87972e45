"""From a decomposition, as data sets write it, to look-ups that stand on their own."""

import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.construction.hops import followed, hops
from aspectrag.data.construction.relations import asked


def part(text, *answers, **more):
    return {"question": text, "answers": list(answers), **more}


def test_answers_are_put_where_they_are_referred_to():
    parts = [
        part("Green >> performer", "Steve Hillage", "Hillage", supporting_id="p1"),
        part("What city was #1 born in ?", "London", supporting_ids=["p2", "p3"]),
        part("Is #2 as large as the town of #1?", "yes"),
    ]
    first, second, third = hops(question("q", "Q?", sub_questions=parts))
    assert first.question == "Who is the performer of Green?"
    assert (first.answers, first.supporting_ids) == (("Steve Hillage", "Hillage"), ("p1",))
    assert first.source.startswith("template")
    assert second.question == "What city was Steve Hillage born in?"
    assert (second.supporting_ids, second.depends_on) == (("p2", "p3"), (1,))
    assert third.question == "Is London as large as the town of Steve Hillage?"
    assert third.depends_on == (1, 2)


@pytest.mark.parametrize(
    "parts",
    [
        [part("Who is #1?", "A")],
        [part("Who?", "A"), part("Where is #3?", "B"), part("When?", "C")],
        [part("Who?", "A"), part("Where is #0?", "B")],
        [part("Who?")],
        [part("Who?", " ")],
        [part(" ", "A")],
        [],
    ],
)
def test_what_cannot_be_followed_has_no_hops(parts):
    given = question("q", "Q?", sub_questions=parts)
    assert hops(given) == []
    assert followed(given) == given


@pytest.mark.parametrize("kind", [{"hops": 1}, {"type": "compound-2", "hops": 2}])
def test_where_parts_do_not_wait_a_number_sign_is_a_first_place(kind):
    parts = [part("Who sang it?", "Ann"), part("Who had the #1 hit of 1956?", "Bo"), part("Which is #7?", "Cy")]
    given = question("q", "Q?", sub_questions=parts, **kind)
    assert [hop.question for hop in hops(given)] == [one["question"] for one in parts]
    assert [hop.depends_on for hop in hops(given)] == [(), (), ()]
    assert [one["question"] for one in followed(given).sub_questions] == [one["question"] for one in parts]


def test_an_answer_is_text_and_never_a_pattern():
    parts = [part("Who?", r"\1 {0} #2"), part("Where was #1 born?", "B")]
    assert hops(question("q", "Q?", sub_questions=parts))[1].question == r"Where was \1 {0} #2 born?"
    assert asked("{x} >> follows") == "What does {x} follow?"


def test_followed_keeps_all_that_hops_know():
    parts = [part("Green >> performer", "A", supporting_id="p1"), part("Who taught #1?", "B", depends_on=[1])]
    given = question("q", "Q?", ["B"], sub_questions=parts)
    again = followed(given)
    assert [one["question"] for one in again.sub_questions] == ["Who is the performer of Green?", "Who taught A?"]
    assert hops(again) == hops(given)
    assert again.inputs().toDict() == {"question": "Q?"}


@pytest.mark.parametrize(
    ("hop", "said"),
    [
        ("Ulm >> shares border with", "What shares a border with Ulm?"),
        ("A >> B >> country", "What is the country of A >> B?"),
        ("Ulm >>", "Ulm >>"),
        (">> country", ">> country"),
    ],
)  # fmt: skip
def test_relations_are_asked_for(hop, said):
    assert asked(hop) == said
