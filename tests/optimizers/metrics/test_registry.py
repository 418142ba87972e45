"""All metrics by their names: each says what it is, and gives numbers or nothing."""

import math

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.metrics.registry import FAMILIES, METRICS, metric

ASKED = question(
    "q",
    "Why coal, and who said so?",
    ["Coal is cheap and dirty."],
    type="REASON",
    supporting_ids=["a"],
    sub_questions=[{"question": "cost", "answers": ["cheap"]}, {"question": "harm", "answers": ["dirty smoke"]}],
    references=[{"text": "cheap", "label": 3}, {"text": "no", "label": 0}],
    meta={"route": "compound"},
)
PASSAGES = [Passage("b", "Harm", "Coal is dirty."), Passage("a", "Coal", "Coal is cheap.")]
ANSWERED = dspy.Prediction(
    answer="Coal is cheap [1].",
    route="REASON",
    passages=PASSAGES,
    citations=[],
    sub_questions=[],
    steps=1,
    stopped_by=None,
    fallbacks=[],
    usage={"lm_calls": 2, "prompt_tokens": 90, "completion_tokens": 10, "cached_calls": 0},
    seconds=0.5,
    cost=None,
)
SAYS_NOTHING = dspy.Prediction(
    answer="", route="", passages=[], citations=[], sub_questions=[], steps=0, stopped_by=None, fallbacks=[]
)
JUDGE = {"rank": 1, "coverage": "fully covered", "support": "fully supported"}


def columns(name, example, prediction):
    with dspy.context(lm=scripted_lm(JUDGE)):
        return metric(name).columns(example, prediction)


@pytest.mark.parametrize("name", METRICS)
def test_each_metric_says_what_it_is_and_gives_finite_numbers_or_nothing(name):
    one = metric(name)
    assert one.name == name
    assert one.about
    assert "\n" not in one.about
    assert len(one.about) < 100
    known = set(one.gives or (name,))
    # A program of Typed-RAG's kind takes no route of HANRAG's.
    answered = dspy.Prediction(**{**ANSWERED.toDict(), "route": "complex"}) if name == "route_accuracy" else ANSWERED
    for example in (ASKED, question("q", "Why?"), dspy.Example(question="Why?")):
        for prediction in (answered, SAYS_NOTHING):
            scores = columns(name, example, prediction)
            assert scores.keys() <= known
            assert all(math.isfinite(score) for score in scores.values())
    if name != "cost":
        assert columns(name, ASKED, answered).keys() == known


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("em", 0),
        ("f1", 2 * 3 / (3 + 5)),
        ("acc", 0),
        ("compound_acc", 1 / 2),
        ("rouge1", 2 * 3 / (3 + 5)),
        ("rouge2", 2 * 2 / (2 + 4)),
        ("rougeL", 2 * 3 / (3 + 5)),
        ("rougeLsum", 2 * 3 / (3 + 5)),
        ("com_rouge1", 1 / 3),
        ("com_rougeL", 1 / 3),
        ("answer_hit@5", 0),
        ("R@5", 1),
        ("R@1", 0),
        ("P@5", 1 / 5),
        ("nDCG@10", 1 / math.log2(3)),
        ("RR", 1 / 2),
        ("RR@1", 0),
        # Of "cheap" the second passage holds all, of "dirty smoke" the first holds half: the second should be first.
        ("div", (0.25 + 2 / 3) / (0.5 + 0.5)),
        ("div@1", 0.25 / 0.5),
        ("coverage", 1),
        ("type_accuracy", 1),
        ("steps", 1),
        ("tokens", 100),
    ],
)
def test_what_they_give_by_hand(name, expected):
    assert columns(name, ASKED, ANSWERED)[name] == pytest.approx(expected)


def test_joined_answers_are_taken_apart_where_the_parts_are_not_known():
    asked = question("q", "When, and who?", ["1651 && Rachael"])
    assert columns("compound_acc", asked, dspy.Prediction(answer="In 1651 [1].")) == {"compound_acc": 0.5}
    assert columns("compound_acc", question("q", "When?", ["1651"]), dspy.Prediction(answer="In 1651.")) == {}


def test_citation_marks_do_not_count_as_words():
    asked, said = question("q", "When?", ["1651"]), dspy.Prediction(answer="1651 [1][2]")
    assert [columns(name, asked, said)[name] for name in ("em", "f1", "rouge1")] == [1, 1, 1]


@pytest.mark.parametrize("family", FAMILIES)
def test_families_take_any_number_of_passages(family):
    assert metric(f"{family}@7").name == f"{family}@7"
    for wrong in ("0", "-1", "x", "", "07", "٣"):
        with pytest.raises(
            AspectragError, match=f"needs a number of passages, 1 or more, after the @: as in {family}@5"
        ):
            metric(f"{family}@{wrong}")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("EM", ": did you mean 'em'?"),
        ("rogue1", ": did you mean 'rouge1'?"),
        ("ndcg@10", ": did you mean 'nDCG@10'?"),
        ("mrr", ", it is a column of the metric 'linkage'"),
        ("citation_recall", ", it is a column of the metric 'citations'"),
        ("zzz", ""),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(name, hint):
    with pytest.raises(AspectragError) as caught:
        metric(name)
    message = str(caught.value)
    assert message.startswith(f"there is no metric {name!r}{hint} (metrics: em, f1, ")
    assert message.endswith("R@k, P@k, nDCG@k, RR@k, div@k)")
    assert "\n" not in message


def test_judged_metrics_are_known_as_such():
    assert [name for name in METRICS if metric(name).judged] == ["linkage", "coverage", "citations"]
