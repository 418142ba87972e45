"""What two sets may not share, and how a pool is divided so that they do not."""

from collections import Counter
from itertools import combinations

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.construction.splitting import apart, disjoint, groups, marks, split
from aspectrag.data.construction.twins import renamed, twins
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError


def asked(name, *passages, text=None, parts=()):
    return question(name, text or f"Question {name}?", ["yes"], supporting_ids=passages, sub_questions=parts)


def test_questions_passages_parts_and_entities_are_marks():
    part = {"question": "Who founded Ulm?", "answers": ["A"], "supporting_ids": ["p2"]}
    template = {"question": "Where was #1 born?", "answers": ["B"], "supporting_id": "p3"}
    made = question("q", "WHO, then?", supporting_ids=["p1"], sub_questions=[part, template], meta={"entity": "Ulm"})
    assert marks(made) == {
        ("question", "who then"),
        ("question", "who founded ulm"),
        ("passage", "p1"),
        ("passage", "p2"),
        ("passage", "p3"),
        ("entity", "Ulm"),
    }
    assert marks({"id": "x", "sub_questions": ["texts", "alone"], "question": "?"}) == set()


def test_a_number_sign_waits_for_an_answer_only_where_there_is_an_earlier_part():
    hit = "Who had the #1 hit in 1956?"
    asked = ("question", "who had the 1 hit in 1956")
    part, first = {"question": hit, "answers": ["Ann"]}, {"question": "Who?", "answers": ["Bo"]}
    assert marks(question("q", hit)) == {asked}
    assert asked in marks(question("q", "Q?", sub_questions=[part, first]))  # none before it
    assert asked not in marks(question("q", "Q?", sub_questions=[first, part]))
    assert asked in marks(question("q", "Q?", hops=1, sub_questions=[first, part]))  # readings, each asked alone
    assert asked in marks(question("q", "Q?", type="compound-2", hops=2, sub_questions=[first, part]))
    forty = {"question": "Who had #40 hits, and #400?", "answers": ["Cy"]}
    assert ("question", "who had 40 hits and 400") in marks(question("q", "Q?", sub_questions=[first, forty]))
    with pytest.raises(AspectragError, match="share 1 thing: 'a' and 'b' the question 'who had the 1 hit in 1956'"):
        disjoint([question("a", hit)], [question("b", "Q?", hops=1, sub_questions=[first, part])])


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [
        (asked("a", text="Who won?"), asked("b", text="who WON"), "'a' and 'b' the question 'who won'"),
        (asked("a", "p"), asked("b", "p"), "'a' and 'b' the passage 'p'"),
        (
            asked("a", parts=[{"question": "Who won?", "answers": ["x"]}]),
            {"id": "b", "question": "Who won"},
            "'a' and 'b' the question 'who won'",
        ),
    ],
)
def test_what_is_shared_is_refused_with_the_ids(train, test, said):
    with pytest.raises(AspectragError) as caught:
        disjoint([asked("z"), train], [asked("y"), test])
    assert str(caught.value) == f"train and test share 1 thing: {said}"
    assert [one.id for one in apart([asked("z"), train], [asked("y"), test])] == ["z"]


def test_many_overlaps_are_told_by_the_first_and_their_number():
    same = [asked(str(n)) for n in range(8)]
    with pytest.raises(AspectragError, match=r"share 8 things: '0' and '0'.*, and 3 more$"):
        disjoint(same, same)


def test_what_hangs_together_over_others_is_one_group():
    chain = [asked("a", "p"), asked("b"), asked("c", "p", "q"), asked("d", "q")]
    assert groups(chain) == [[0, 2, 3], [1]]


def test_parts_share_nothing_whatever_the_seed_and_keep_the_order():
    pool = [asked(str(n), f"p{n // 3}", f"x{n % 40 // 20}" if n < 4 else f"y{n}") for n in range(60)]
    for seed in range(5):
        parts = split(pool, {"train": 0.8, "dev": 0.1, "test": 0.1}, seed)
        assert Counter({name: len(found) for name, found in parts.items()}) == {"train": 48, "dev": 6, "test": 6}
        for one, other in combinations(parts.values(), 2):
            disjoint(one, other)
        assert sorted((one.id for found in parts.values() for one in found), key=int) == [one.id for one in pool]
        assert [int(one.id) for one in parts["train"]] == sorted(int(one.id) for one in parts["train"])
    assert split(pool, {"a": 1, "b": 1}, 3) == split(pool, {"a": 1, "b": 1}, 3)
    assert split(pool, {"a": 1, "b": 1}, 3) != split(pool, {"a": 1, "b": 1}, 4)


def test_each_part_has_its_share_of_every_class():
    pool = [dspy.Example(id=str(n), question=f"Q {n}?", kind="rare" if n < 10 else "common") for n in range(100)]
    parts = split(pool, {"train": 0.8, "test": 0.2}, key=lambda one: one.kind)
    assert Counter(one.kind for one in parts["test"]) == {"rare": 2, "common": 18}


def test_what_hangs_together_as_a_whole_cannot_be_split():
    with pytest.raises(AspectragError, match="no test part can be split off: of 9 questions, 9 hang together"):
        split([asked(str(n), "p") for n in range(9)], {"train": 0.9, "test": 0.1})


def test_one_text_under_two_ids_is_one_passage():
    names = twins(
        [Passage("a:1", "Ulm", "A  town."), Passage("b:1", "Ulm (Donau)", "A town."), Passage("b:2", "", "x")]
    )
    assert names == {"b:1": "a:1"}
    part = {"question": "Where?", "answers": ["x"], "supporting_id": "b:1"}
    other = renamed(asked("q", "b:1", "b:2", "a:1", parts=[part]), names)
    assert other.supporting_ids == ["a:1", "b:2"]
    assert other.sub_questions[0]["supporting_id"] == "a:1"
    with pytest.raises(AspectragError, match="the passage 'a:1'"):
        disjoint([asked("r", "a:1")], [other])
