import pytest
from aspectrag.programs.blocks.adapter import StructuredAdapter, TolerantChatAdapter
from aspectrag.signatures import (
    ClassifyQuestion,
    GenerateReasonQueries,
    JudgeEnding,
    JudgeRelevance,
    JudgeSupport,
    JudgeUsefulness,
    PlanDebate,
    RouteQuestion,
    SelectRelevant,
)
from dspy.utils.exceptions import AdapterParseError

SIDES = [{"opinion": "for", "query": "a?"}, {"opinion": "against", "query": "b?"}]


@pytest.mark.parametrize(
    ("signature", "said", "fields"),
    [
        (GenerateReasonQueries, '[[ ## queries ## ]]\n["a?", "b?"]', {"queries": ["a?", "b?"]}),
        (GenerateReasonQueries, '{"queries": ["a?", "b?"]}', {"queries": ["a?", "b?"]}),
        (GenerateReasonQueries, 'Sure:\n```json\n{"queries": ["团?"]}\n```\n', {"queries": ["团?"]}),
        (GenerateReasonQueries, "['a?', 'b?']", {"queries": ["a?", "b?"]}),
        (ClassifyQuestion, '{"type": "REASON"}', {"type": "REASON"}),
        (ClassifyQuestion, "[[ ## type ## ]]\n'REASON'", {"type": "REASON"}),
        (ClassifyQuestion, "[[ ## type ## ]]\n**reason.**\n\n[[ ## completed ## ]]", {"type": "REASON"}),
        (ClassifyQuestion, '```json\n{"type" : "Not-a-question"}\n```', {"type": "NOT-A-QUESTION"}),
        (RouteQuestion, "[[ ## route ## ]]\nSingle-Step.", {"route": "single-step"}),
        (RouteQuestion, '[[ ## route ## ]]\n"Complex"', {"route": "complex"}),
        (JudgeRelevance, "[[ ## relevant ## ]]\nTRUE.", {"relevant": True}),
        (JudgeRelevance, "[[ ## relevant ## ]]\nNo.", {"relevant": False}),
        (JudgeRelevance, '{"relevant": "Yes"}', {"relevant": True}),
        (JudgeSupport, "[[ ## support ## ]]\nPartially supported", {"support": "partially supported"}),
        (JudgeUsefulness, "[[ ## usefulness ## ]]\n4", {"usefulness": 4}),
        (JudgeUsefulness, "[[ ## usefulness ## ]]\n**4**/5", {"usefulness": 4}),
        (JudgeRelevance, "[[ ## relevant ## ]]\nNo. The passage is about x.", {"relevant": False}),
        (JudgeRelevance, "[[ ## relevant ## ]]\nYes\n\nIt names her.\n\n[[ ## completed ## ]]", {"relevant": True}),
        (JudgeRelevance, "[[ ## relevant ## ]]\nFalse。", {"relevant": False}),
        (RouteQuestion, "[[ ## route ## ]]\nsingle step", {"route": "single-step"}),
        (RouteQuestion, "[[ ## route ## ]]\nComplex, since it is nested", {"route": "complex"}),
        (SelectRelevant, "[]", {"relevant": []}),
    ],
)
def test_one_call_is_enough_for_untidy_answers(signature, said, fields):
    assert TolerantChatAdapter().parse(signature, said) == fields


def test_nested_objects_in_prose():
    said = 'Here:\n{"topic": "coal", "perspectives": [{"opinion": "for", "query": "a?"}, ' + str(SIDES[1]) + "]}\nBye"
    parsed = TolerantChatAdapter().parse(PlanDebate, said)
    assert [p.opinion for p in parsed["perspectives"]] == ["for", "against"]


@pytest.mark.parametrize(
    "said",
    [
        "",
        "No idea.",
        "{}",
        "[]",
        "[1",
        '{"type": "OTHER"}',
        "[[ ## type ## ]]\nOTHER",
        "[" * 5000,
        '{"type": ' * 3000,
        '{"a": ' * 300,
        "{a" * 8000,
    ],
)
def test_what_is_no_answer_is_refused(said):
    for adapter in (TolerantChatAdapter(), StructuredAdapter()):
        with pytest.raises(AdapterParseError):
            adapter.parse(ClassifyQuestion, said)


def test_labels_are_read_under_a_schema_too():
    assert StructuredAdapter().parse(JudgeRelevance, '{"relevant": "Yes."}') == {"relevant": True}


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        (JudgeEnding, "[[ ## verdict ## ]]\nINSUFFICIENT"),
        (JudgeEnding, "[[ ## verdict ## ]]\nThe end is near"),
        (RouteQuestion, "[[ ## route ## ]]\nsimple"),
        (RouteQuestion, "[[ ## route ## ]]\ncompound or complex"),
        (JudgeRelevance, "[[ ## relevant ## ]]\nRELEVANT"),
        (JudgeUsefulness, "[[ ## usefulness ## ]]\n9"),
    ],
)
def test_a_label_is_the_whole_value_or_none(signature, said):
    with pytest.raises(AdapterParseError):
        TolerantChatAdapter().parse(signature, said)
