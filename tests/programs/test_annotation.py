"""From what a model says about sentences to parts of an answer, and when it is given up."""

import dspy
import pytest
from aspectrag.data.construction import FacetPart
from aspectrag.errors import AspectragError
from aspectrag.lms import scripted_lm
from aspectrag.programs.annotation import FacetAnnotator

QUESTION = "Why did the league end?"
ANSWER = "  Trade had collapsed. Towns left, e.g. Bruges.\n\nPrices rose  for a decade. Kings gained. "


def facets(*pairs):
    return [{"facet": facet, "first_sentence": first} for facet, first in pairs]


GOOD = facets(("causes", 1), (" effects\n on  trade ", 3))


def annotate(reply, question=QUESTION, answer=ANSWER, **options):
    lm = reply if isinstance(reply, dspy.LM) else scripted_lm(reply if callable(reply) else {"facets": reply})
    with dspy.context(lm=lm):
        return FacetAnnotator(**options)(question=question, answer=answer).parts, lm.engine.calls


def test_parts_are_pieces_of_the_answer_and_the_model_sees_numbered_sentences():
    parts, calls = annotate(GOOD)
    assert parts == [
        FacetPart("causes", "Trade had collapsed. Towns left, e.g. Bruges."),
        FacetPart("effects on trade", "Prices rose  for a decade. Kings gained."),
    ]
    assert len(calls) == 1
    assert QUESTION in calls[0].prompt
    for text in ("Trade had collapsed.", "Towns left, e.g. Bruges.", "Kings gained."):
        assert text in calls[0].prompt
    assert '"number": 4' in calls[0].prompt
    assert '"number": 5' not in calls[0].prompt


def test_chinese_answers_are_cut_between_sentences():
    parts, _ = annotate(facets(("原因", 1), ("影响", 3)), "为什么？", "贸易崩溃。城市离开。价格上涨。")
    assert parts == [FacetPart("原因", "贸易崩溃。城市离开。"), FacetPart("影响", "价格上涨。")]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([], "no facets"),
        (facets(("causes", 2), ("effects", 3)), "the first facet begins with sentence 2, not 1"),
        (facets(("causes", 0), ("effects", 3)), "the first facet begins with sentence 0, not 1"),
        (facets(("causes", 1), ("effects", 3), ("kings", 2)), "the first sentences do not increase: [1, 3, 2]"),
        (facets(("causes", 1), ("effects", 1)), "the first sentences do not increase: [1, 1]"),
        (facets(("causes", 1), ("effects", 5)), "there is no sentence 5, the answer has 4"),
        (facets(("causes", 1)), "1 facets, not 2 to 7"),
        (facets(("causes", 1), ("Causes", 2)), "the facet 'Causes' is there twice"),
        (facets(("causes", 1), ("", 2)), "facet 2 is blank"),
        (facets(("causes", 1), ("why Bruges left", 2)), "tells what only the answer does: 'Bruges'"),
    ],
)
def test_what_is_no_annotation_is_asked_for_again_and_given_up_with_the_reason(said, reason):
    lm = scripted_lm({"facets": said})
    with pytest.raises(AspectragError) as caught:
        annotate(lm)
    assert str(caught.value).startswith("not split into facets: ")
    assert reason in str(caught.value)
    assert len(lm.engine.calls) == 3


def test_prose_is_no_annotation():
    lm = scripted_lm(lambda call: "I would rather not.")
    with pytest.raises(AspectragError, match="the output does not parse"):
        annotate(lm, max_attempts=2)
    assert len(lm.engine.calls) == 2


def test_a_later_attempt_may_be_good():
    parts, calls = annotate(lambda call: {"facets": GOOD if call.index == 2 else facets(("causes", 1))})
    assert (len(parts), len(calls)) == (2, 3)


def test_more_than_seven_facets_are_refused():
    answer = " ".join(f"Reason {word} came." for word in "abcdefgh")
    with pytest.raises(AspectragError, match="8 facets, not 2 to 7"):
        annotate(facets(*((f"reason {'i' * n}", n) for n in range(1, 9))), answer=answer)


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        (QUESTION, "Trade had collapsed, e.g. in Bruges.", "the answer has one sentence: nothing to split"),
        (QUESTION, " \n ", "the answer has no text: nothing to split"),
        (" ", ANSWER, "the question is empty"),
    ],
)
def test_what_cannot_be_split_costs_no_call(question, answer, reason):
    lm = scripted_lm({"facets": GOOD})
    with pytest.raises(AspectragError, match=reason):
        annotate(lm, question, answer)
    assert not lm.engine.calls


def test_a_prompt_that_is_too_long_is_no_failure_of_the_model():
    lm = scripted_lm(lambda call: dspy.ContextWindowExceededError(message="too long"))
    with pytest.raises(AspectragError, match="the prompt exceeds the context window"):
        annotate(lm)
    assert len(lm.engine.calls) == 1


def test_a_model_that_cannot_be_reached_is_said_as_it_is():
    with pytest.raises(dspy.LMError):
        annotate(lambda call: dspy.LMServerError("down"))


def test_halves_of_surrogate_pairs_do_no_harm():
    parts, _ = annotate(facets(("causes \ud83d", 1), ("effects", 2)), answer="Trade \ud83d fell. Prices rose.")
    assert [part.facet for part in parts] == ["causes ?", "effects"]


def test_refused_outputs_are_no_examples_for_an_optimizer():
    with dspy.context(trace=[]):
        annotate(lambda call: {"facets": GOOD if call.index else []})
        assert len(dspy.settings.trace) == 1
