"""Questions about one article put together, and the record that comes of it."""

from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.benchmarks.records import read_own
from aspectrag.data.construction.compound import (
    Group,
    Part,
    as_question,
    as_typed,
    compound_record,
    from_singles,
    groups,
    join_verbatim,
    single_parts,
)
from aspectrag.data.construction.revelator import route_of


def single(n, title="Ulm", **changes):
    given = {"hops": 1, "supporting_titles": [title], "supporting_ids": [f"p{n}"], **changes}
    return question(f"q{n}", f"what is thing {n} of {title}", given.pop("answers", [f"a{n}"]), **given)


def test_parts_are_single_hop_questions_of_one_article():
    odd = [
        single(2, hops=2),
        single(3, supporting_titles=["A", "B"]),
        single(4, supporting_titles=[]),
        single(5, answers=[]),
        single(6, sub_questions=[{"question": "what", "answers": ["a"]}]),
    ]
    ((title, part),) = single_parts([single(1), *odd])
    assert title == "Ulm"
    assert part == Part("What is thing 1 of Ulm?", ("a1",), "p1", "q1")


def test_groups_are_of_two_to_four_each_question_in_one_and_nothing_twice():
    pool = single_parts([single(n, "Ulm" if n < 30 else "Bonn") for n in range(40)] + [single(99, "Alone")])
    made = groups(pool, seed=4)
    assert {group.entity for group in made} == {"Ulm", "Bonn"}
    assert {len(group.parts) for group in made} == {2, 3, 4}
    ids = [part.source_id for group in made for part in group.parts]
    assert len(ids) == len(set(ids))
    assert len(ids) >= 38
    assert len({group.id for group in made}) == len(made)
    assert groups(pool, seed=4) == made
    assert groups(pool, seed=5) != made
    # The groups of an entity do not change with what else there is.
    assert groups(pool[30:], seed=4) == [group for group in made if group.entity == "Bonn"]


def test_questions_that_say_the_same_or_have_an_answer_in_common_do_not_meet():
    same = [("Ulm", Part("Who?", ("A", "B"))), ("Ulm", Part("who", ("C",))), ("Ulm", Part("Whom?", ("b.",)))]
    assert groups(same[:2]) == groups([same[0], same[2]]) == []
    (group,) = groups(same)
    assert {part.question for part in group.parts} == {"who", "Whom?"}


def test_single_questions_become_compound_ones_several_times_each_time_others():
    asked = [single(n, "Ulm" if n < 12 else "Bonn") for n in range(24)]
    once, often = from_singles(asked, seed=1), from_singles(asked, 3, seed=1)
    assert len(often) > 2 * len(once)
    assert len({each.id for each in often}) == len(often)
    parts = [frozenset(part["question"] for part in each.sub_questions) for each in often]
    assert len(set(parts)) == len(parts)
    for each in often:
        assert route_of(each) == "compound"
        assert all(part["question"].lower().rstrip("?") in each.question.lower() for part in each.sub_questions)
    assert len({each.question.rpartition("? ")[2].partition(" ")[0] for each in often}) > 2  # joined in several ways
    assert {each.question.count("?") == 1 for each in often} == {True, False}
    assert from_singles([single(1), single(2, "Bonn")]) == []


def test_joining_as_they_stand():
    assert as_question(" who  won. ") == "Who won?"
    assert as_question("谁赢了？") == "谁赢了？"
    assert as_typed("Who won？") == "who won"
    assert as_typed(as_question("who won")) == "who won"
    asked = ["Who won?", "Ulm lost when?", "Where was it?"]
    assert join_verbatim(asked[:2]) == "Who won? Also, Ulm lost when?"
    assert join_verbatim(asked, "") == "Who won? Ulm lost when? Where was it?"
    assert join_verbatim(asked, ", and") == "Who won, Ulm lost when, and where was it?"
    assert join_verbatim(asked[:2], " and") == "Who won and Ulm lost when?"


def test_the_record_reads_back_as_a_compound_question():
    group = Group("Ulm#1", "Ulm", (Part("Who?", ("A", "B"), "p1", "q1"), Part("When?", ("1651",), "p1")))
    record = compound_record(group, "Who? Also, when?", "verbatim")
    assert record["answers"] == ["A && 1651"]
    assert record["sub_questions"] == [
        {"question": "Who?", "answers": ["A", "B"], "supporting_id": "p1", "source_id": "q1"},
        {"question": "When?", "answers": ["1651"], "supporting_id": "p1"},
    ]
    assert (record["supporting_ids"], record["type"], record["hops"]) == (["p1"], "compound-2", 1)
    read = read_own(record)
    assert route_of(read) == "compound"
    assert single_parts([read]) == []
    assert read.meta["entity"] == "Ulm"
