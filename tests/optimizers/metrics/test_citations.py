"""Citations as a judge sees them: which sentence cites what, and what that is worth."""

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.metrics.citations import citing_sentences
from aspectrag.optimizers.metrics.registry import metric

PASSAGES = [Passage("a", "Coal", "Coal is cheap."), Passage("b", "Harm", "Coal is dirty."), Passage("c", "", "Wind.")]
FULL, PART, NONE = "fully supported", "partially supported", "no support"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Coal is cheap [1]. It is dirty [2].", [("Coal is cheap.", (1,)), ("It is dirty.", (2,))]),
        ("Coal is cheap. [1] It is dirty. [2]", [("Coal is cheap.", (1,)), ("It is dirty.", (2,))]),
        ("Coal is cheap.[1] It is dirty.[2][1]", [("Coal is cheap.", (1,)), ("It is dirty.", (2, 1))]),
        ("Coal [1] is cheap [1, 3].", [("Coal is cheap.", (1, 3))]),
        ("[2] Coal is cheap. So!", [("Coal is cheap.", (2,)), ("So!", ())]),
        ("煤很便宜[1]。它很脏。[2]", [("煤很便宜。", (1,)), ("它很脏。", (2,))]),
        ("Cheap [7]. Or [sic] dirty [0].", [("Cheap.", ()), ("Or [sic] dirty.", ())]),  # pointing nowhere
        ("- cheap [1]\n- dirty [2]", [("- cheap", (1,)), ("- dirty", (2,))]),
        ("First. [1] [2]\n\n[3]", [("First.", (1, 2, 3))]),
        ("... [1]", []),
        ("", []),
    ],
)
def test_which_sentence_cites_what(answer, expected):
    assert [(each.text, each.numbers) for each in citing_sentences(answer, PASSAGES)] == expected


def judged(reply, answer, passages=PASSAGES):
    lm = scripted_lm(reply)
    with dspy.context(lm=lm):
        columns = metric("citations").columns(
            question("q", "Why coal?"), dspy.Prediction(answer=answer, passages=passages)
        )
    return columns, lm.engine.calls


def columns(precision, recall, failed=0.0):
    given = {"citation_precision": precision, "citation_recall": recall, "citations_failed": failed}
    return {name: pytest.approx(value) for name, value in given.items() if value is not None}


def by_passages(call):
    """Coal is borne out by its own passage, in full by both, never by the wind."""
    shown = call.inputs["passages"]
    return {"support": FULL if "cheap" in shown and "dirty" in shown else PART if "Coal" in shown else NONE}


def test_recall_is_of_sentences_and_precision_of_citations():
    said = "Coal is cheap and dirty [1][2]. Wind is calm [3]. So it is. Coal is cheap [1]."
    scores, calls = judged(by_passages, said)
    # 1 and 2 alone support in part, as does 1 again; 3 does not. Fully supported is the first sentence alone.
    assert scores == columns(3 / 4, 1 / 4)
    assert len(calls) == 3 + 2  # each citing sentence, and each passage of the one that cites two
    assert calls[0].inputs["question"] == "Why coal?"
    assert {call.inputs["sentence"] for call in calls} == {
        "Coal is cheap and dirty.",
        "Wind is calm.",
        "Coal is cheap.",
    }


@pytest.mark.parametrize(
    ("support", "expected"),
    [(FULL, (1, 1)), (PART, (1, 0)), (NONE, (0, 0))],
)
def test_a_single_citation_is_judged_once(support, expected):
    scores, calls = judged({"support": support}, "Coal is cheap [1].")
    assert scores == columns(*expected)
    assert len(calls) == 1


@pytest.mark.parametrize("answer", ["", "Coal is cheap. It is dirty.", "Coal [9]."])
def test_where_nothing_is_cited_both_are_0_and_no_one_is_asked(answer):
    assert judged({}, answer) == (columns(0, 0), [])
    assert judged({}, answer, []) == (columns(0, 0), [])


def test_what_the_judge_gives_no_verdict_on_is_told_and_not_averaged():
    def reply(call):
        return "I cannot say." if "Wind" in call.inputs["sentence"] else {"support": FULL}

    scores, calls = judged(reply, "Coal is cheap [1]. Wind is calm [3].")
    assert scores == columns(1, 1, 1 / 2)
    assert len(calls) == 1 + 3
    scores, _ = judged(reply, "Wind is calm [3]. So.")
    assert scores == columns(None, 0, 1)
    scores, _ = judged(reply, "Wind is calm [3].")
    assert scores == columns(None, None, 1)


def test_every_verdict_is_told_with_the_passages_it_was_on():
    answer = dspy.Prediction(answer="Coal is cheap [1][2]. Wind is calm [3].", passages=PASSAGES)
    with dspy.context(lm=scripted_lm(lambda call: "?" if "Wind" in call.inputs["sentence"] else {"support": FULL})):
        detail = metric("citations").score(question("q", "Why coal?"), answer).detail
    ids = [passage.id for passage in PASSAGES]
    assert [(each["passages"], each["verdict"], bool(each["failure"])) for each in detail] == [
        (ids[:2], FULL, False), (ids[2:3], None, True), (ids[:1], FULL, False), (ids[1:2], FULL, False)
    ]  # fmt: skip
