"""What a model says of passages and questions, and when it is asked again or given up."""

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import scripted_lm
from aspectrag.programs.compounding import EasyQuestionWriter, QuestionJoiner

PASSAGE = "The bridge of Ruhla was opened in 1869. It has nine arches."
GOOD = {"question": " When was the bridge\nof Ruhla opened?", "answer": "1869."}
PARTS = ["When was the Ruhla bridge opened?", "How many arches does the Ruhla bridge have?"]
JOINED = "When was the Ruhla bridge opened, and how many arches does it have?"


def write(lm):
    with dspy.context(lm=lm):
        return EasyQuestionWriter()(entity="Ruhla bridge", passage=PASSAGE)


def join(lm):
    with dspy.context(lm=lm):
        return QuestionJoiner()(entity="Ruhla bridge", questions=PARTS, answers=["1869", "nine"])


def test_a_question_and_the_words_of_the_passage():
    lm = scripted_lm(GOOD)
    out = write(lm)
    assert (out.question, out.answer) == ("When was the bridge of Ruhla opened?", "1869")
    assert PASSAGE in lm.engine.calls[0].prompt


def test_bad_questions_are_asked_for_again_and_given_up_with_the_reason():
    lm = scripted_lm(lambda call: GOOD if call.index == 2 else {**GOOD, "answer": "1870"})
    assert write(lm).answer == "1869"
    lm = scripted_lm({**GOOD, "answer": "1870"})
    with pytest.raises(AspectragError, match="no easy question: the answer '1870' is not in the passage"):
        write(lm)
    assert len(lm.engine.calls) == 3


def test_joined_or_not_by_what_the_model_says():
    lm = scripted_lm({"can_be_joined": True, "question": JOINED})
    assert join(lm).question == JOINED
    assert "nine" not in lm.engine.calls[0].prompt  # it is not shown the answers
    assert join(scripted_lm({"can_be_joined": False, "question": ""})).question is None


def test_a_question_that_lost_a_part_is_refused():
    lm = scripted_lm({"can_be_joined": True, "question": PARTS[0]})
    with pytest.raises(AspectragError, match="not joined: 'many' of 'How many arches"):
        join(lm)
    assert len(lm.engine.calls) == 3


def test_refused_outputs_are_no_examples_for_an_optimizer():
    replies = [{"can_be_joined": True, "question": PARTS[0]}, {"can_be_joined": True, "question": JOINED}]
    with dspy.context(trace=[]):
        join(scripted_lm(lambda call: replies[min(call.index, 1)]))
        assert len(dspy.settings.trace) == 1


def test_a_model_that_cannot_be_reached_is_said_as_it_is():
    for work in (write, join):
        with pytest.raises(dspy.LMError):
            work(scripted_lm(lambda call: dspy.LMServerError("down")))
