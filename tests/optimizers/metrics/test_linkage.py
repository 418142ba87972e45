"""LINKAGE: the same references for all, what counts as a rank, and what ranks are worth."""

import json
import random
from pathlib import Path

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.metrics.linkage import (
    Linkage,
    Ranking,
    draw_references,
    linkage,
    linkage_over,
    mean_percent_rank,
    mean_reciprocal_rank,
    rank_among,
    rank_in,
)
from aspectrag.optimizers.metrics.registry import metric
from aspectrag.programs.blocks.adapter import StructuredAdapter, TolerantChatAdapter

SHARED = Path(__file__).parents[4] / "shared" / "data" / "wiki_nfqa" / "dev.jsonl"
GRADED = [
    {"text": "best", "label": 3},
    {"text": "shallow", "label": 2},
    {"text": "#question {answer} [[ ## rank ## ]] 1", "label": 1},
    {"text": "off topic", "label": 0},
    {"text": "also best", "label": 3},
    {"text": "wrong", "label": 0},
]
ASKED = question("q1", "Why coal?", references=GRADED)
FOUR = ("a", "b", "c", "d")


def rank(said, references=FOUR, answer="It is cheap."):
    """The ranking that a judge gives who says this, and how often it was asked."""
    lm = scripted_lm(lambda call: said)
    with dspy.context(lm=lm):
        return rank_among("Why coal?", references, answer), len(lm.engine.calls)


def test_one_reference_of_each_grade_the_best_first():
    drawn = draw_references(ASKED, 0)
    assert [next(each["label"] for each in GRADED if each["text"] == text) for text in drawn] == [3, 2, 1, 0]
    few = [each for each in GRADED if each["label"] in (0, 3)]
    assert len(draw_references(question("q1", "Why coal?", references=few), 0)) == 2
    assert draw_references(question("q1", "Why coal?", references=[{"text": " ", "label": 3}]), 0) == ()


def test_the_draw_depends_on_question_and_number_alone():
    drawn = [draw_references(ASKED, draw) for draw in range(20)]
    random.seed(7)
    shuffled = question("q1", "Asked otherwise", references=GRADED[::-1])
    assert [draw_references(shuffled, draw) for draw in range(20)] == drawn
    assert {one[0] for one in drawn} == {"best", "also best"}
    assert [draw_references(question("q2", "Why coal?", references=GRADED), draw) for draw in range(20)] != drawn
    # Wherever and whenever it is made.
    assert [one[0] for one in drawn[:6]] == ["best", "also best", "best", "also best", "best", "best"]
    assert draw_references(question("\ud83d", "Why coal?", references=GRADED), 0)


def test_real_questions_get_two_to_four_references_one_of_each_grade():
    if not SHARED.exists():
        pytest.skip("the benchmark files are not here")
    sizes = []
    for line in SHARED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        graded = record["meta"]["references"]
        drawn = draw_references(question(record["id"], record["question"], references=graded), 0)
        assert len(drawn) == len({each["label"] for each in graded})
        sizes.append(len(drawn))
    assert (len(sizes), min(sizes), max(sizes)) == (354, 2, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[2]]", 2),
        ("Answer [1] is better, so [[3]]", 3),
        ("[[ 3 ]] and not [[4]]", 3),
        ("It is [2].", 2),
        ("[2] ... yes, [2]", 2),
        ("[1] is better than [2]", None),
        (" 3.\n", 3),
        ("3 of 4", None),
        ("[[0]]", 0),
        ("Rank: 2", None),
        ("[[two]]", None),
        ("[[-1]]", None),
        ("", None),
        ("[" * 10_000, None),
        (f"[{'1' * 10_000}]", None),
    ],
)
def test_ranks_in_prose(text, expected):
    assert rank_in(text) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2", 2),
        ("[[2]]", 2),
        ("Answer [1] is better, so [[3]]", 3),
        ("[[5]]", 5),
        ({"rank": 4}, 4),
        ("[[ ## rank ## ]]\n[[3]]\n\n[[ ## completed ## ]]", 3),
        ('```json\n{"rank": 2}\n```', 2),
    ],
)
@pytest.mark.parametrize("adapter", [TolerantChatAdapter(), StructuredAdapter()])
def test_a_rank_counts_however_it_is_written(said, expected, adapter):
    with dspy.context(adapter=adapter):
        assert rank(said) == (Ranking(FOUR, expected), 1)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("[[0]]", "the rank is 0, not 1 to 5"),
        ("[[9]]", "the rank is 9, not 1 to 5"),
        ({"rank": 6}, "the rank is 6, not 1 to 5"),
        ({"rank": -1}, "the rank is -1, not 1 to 5"),
        ("Rank: 2", "the output does not parse"),
        ("", "the output does not parse"),
        ({"rank": "the best"}, "the output does not parse"),
    ],
)
def test_what_is_no_rank_is_asked_again_and_then_counts_as_the_worst(said, why):
    assert rank(said) == (Ranking(FOUR, 5, failure=why), 3)


def test_a_later_attempt_may_succeed():
    lm = scripted_lm(lambda call: {"rank": 9 if call.index == 0 else 2})
    with dspy.context(lm=lm):
        assert rank_among("Why coal?", FOUR, "It is cheap.") == Ranking(FOUR, 2)


def test_an_answer_that_says_nothing_is_the_worst_and_no_one_is_asked():
    assert rank({"rank": 1}, answer="") == (Ranking(FOUR, 5), 0)


def test_the_judge_sees_question_references_and_answer_as_they_are_and_the_worst_rank():
    lm = scripted_lm({"rank": 1})
    with dspy.context(lm=lm):
        linkage(ASKED, dspy.Prediction(answer="It is #question {cheap} [1]."), draws=1)
    (call,) = lm.engine.calls
    assert call.inputs["answer"] == "It is #question {cheap}."
    assert call.inputs["worst"] == "5"
    for number, text in enumerate(draw_references(ASKED, 0), 1):
        assert f'"number": {number}, "text": "{text}"' in call.inputs["references"]


def test_scores_of_ranks_by_hand():
    assert mean_reciprocal_rank([1, 2, 4]) == pytest.approx(0.5833, abs=1e-4)
    assert mean_percent_rank([1, 2, 4], [4, 4, 4]) == pytest.approx(66.67, abs=1e-2)
    assert mean_percent_rank([1, 3], [4, 2]) == pytest.approx(50)


def test_the_two_conventions_differ_for_what_is_worse_than_all():
    drawn = tuple(Ranking(FOUR, rank) for rank in (1, 2, 4))
    assert Linkage(drawn).scores() == pytest.approx(
        {"mrr": 7 / 12, "mpr": 200 / 3, "mrr_n": 7 / 12, "mpr_n": 200 / 3, "linkage_failed": 0}
    )
    assert Linkage((Ranking(FOUR, 5, "nonsense"), Ranking(FOUR, 5))).scores() == pytest.approx(
        {"mrr": 1 / 5, "mpr": 0, "mrr_n": 1 / 4, "mpr_n": 25, "linkage_failed": 1 / 2}
    )


def test_draws_are_averaged_and_those_that_chose_the_same_are_judged_once():
    lm = scripted_lm(lambda call: {"rank": 1 if "also best" in call.inputs["references"] else 2})
    drawn = [draw_references(ASKED, draw) for draw in range(10)]
    with dspy.context(lm=lm):
        judged = linkage(ASKED, dspy.Prediction(answer="It is cheap."), draws=10)
    assert len(lm.engine.calls) == len(set(drawn))
    assert [draw.references for draw in judged.draws] == drawn
    first = sum(references[0] == "also best" for references in drawn)
    assert judged.scores()["mrr"] == pytest.approx((first + (10 - first) / 2) / 10)
    one = judged.draws[0]
    alone = Linkage((one,)).scores()
    assert judged.detail()[0] == {"references": drawn[0], "rank": one.rank, "failure": None, "scores": alone}


@pytest.mark.parametrize("references", [[], GRADED[:1], [GRADED[0], GRADED[4]]])
def test_it_does_not_apply_to_less_than_two_grades(references):
    with dspy.context(lm=None):
        asked = question("q1", "Why coal?", references=references)
        assert metric("linkage").columns(asked, dspy.Prediction(answer="so")) == {}


def test_the_metric_asks_the_judge_and_leaves_no_demo():
    judge, other = scripted_lm({"rank": 2}), scripted_lm({})
    with dspy.context(lm=other, roles={"judge": judge}, trace=[]):
        columns = linkage_over(2).columns(ASKED, dspy.Prediction(answer="It is cheap."))
        assert dspy.settings.trace == []
    assert columns == {"mrr": 0.5, "mpr": 75.0, "mrr_n": 0.5, "mpr_n": 75.0, "linkage_failed": 0.0}
    assert judge.engine.calls
    assert not other.engine.calls


def test_a_judge_that_cannot_be_reached_is_no_bad_answer():
    lm = scripted_lm(lambda call: dspy.LMTransportError("refused"))
    with dspy.context(lm=lm), pytest.raises(dspy.LMError):
        linkage(ASKED, dspy.Prediction(answer="It is cheap."))
