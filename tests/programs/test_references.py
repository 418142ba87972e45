"""Types and graded answers by scripted models: who writes what, what a judge sees, and what is left out."""

import json

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import scripted_lm
from aspectrag.programs.references import QuestionLabeller, ReferenceWriter

WORTH = {"the rain": 2, "It was all the rain.": 3, "Rain.": 3, "Weather?": 1, "I like tea.": 0}
SAID = {
    "better": "It was all the rain.",
    "good": "Rain.",
    "flawed": "Weather?",
    "off_topic": "I like tea.",
}


def judged(call):
    if call.fields == ("grades",):
        return {"grades": [WORTH[answer["text"]] for answer in json.loads(call.inputs["answers"])]}
    return {name: SAID[name] for name in call.fields}


def references(lm, writers=(), question="Why did it flood?", answer="the rain"):
    with dspy.context(lm=lm):
        return ReferenceWriter(writers)(question=question, answer=answer).references


def test_each_answer_has_the_grade_it_was_given_wherever_the_judge_saw_it():
    lm = scripted_lm(judged, name="all")
    found = references(lm)
    assert [(one["text"], one["label"]) for one in found] == list(WORTH.items())
    assert [one["meant"] for one in found] == ["gold", "superior", "good", "flawed", "off-topic"]
    assert [one["source"] for one in found] == ["gold", *["scripted/all"] * 4]
    shown = [one["text"] for one in json.loads(lm.engine.calls[-1].inputs["answers"])]
    assert shown != list(WORTH)
    assert "superior" not in lm.engine.calls[-1].prompt
    assert len(lm.engine.calls) == 3


def test_every_writer_writes_and_what_says_the_same_is_there_once():
    other = {"good": "Heavy rain fell.", "flawed": "weather", "off_topic": "Cats."}
    two = scripted_lm(other, name="two")
    worth = {**WORTH, "Heavy rain fell.": 3, "Cats.": 0}
    lm = scripted_lm(
        lambda call: (
            {"grades": [worth[one["text"]] for one in json.loads(call.inputs["answers"])]}
            if call.fields == ("grades",)
            else judged(call)
        ),
        name="one",
    )
    found = references(lm, [lm, two])
    assert [(one["text"], one["source"]) for one in found[-2:]] == [
        ("Heavy rain fell.", "scripted/two"),
        ("Cats.", "scripted/two"),
    ]
    assert len(found) == 7
    assert len(two.engine.calls) == 1


def test_a_writer_that_fails_is_left_out():
    broken = scripted_lm(lambda call: "no")
    assert [one["meant"] for one in references(scripted_lm(judged), [broken])] == ["gold", "superior"]
    assert len(broken.engine.calls) == 3
    with pytest.raises(AspectragError, match="nothing was written beside the gold answer"):
        references(broken)


@pytest.mark.parametrize(
    ("grades", "reason"), [([3, 1], "2 grades for 5 answers"), ([1] * 5, "all 5 answers have the grade 1")]
)
def test_grades_of_no_use_are_asked_for_again_and_given_up(grades, reason):
    lm = scripted_lm(lambda call: {"grades": grades} if call.fields == ("grades",) else judged(call))
    with pytest.raises(AspectragError, match=f"no grades: {reason}"):
        references(lm)
    assert len(lm.engine.calls) == 2 + 3


def test_labels_come_from_the_model_of_their_stage():
    small = scripted_lm({"type": "DEBATE"})
    with dspy.context(lm=scripted_lm({"type": "REASON"}), roles={"classify": small}):
        assert QuestionLabeller()(question="Should it?").type == "DEBATE"
    with (
        dspy.context(lm=scripted_lm({"type": "SOMETHING"})),
        pytest.raises(AspectragError, match="no type: the output"),
    ):
        QuestionLabeller(max_attempts=1)(question="Should it?")
