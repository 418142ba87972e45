"""What a skill scores, and how many examples there is time for."""

import time

import dspy
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.tuning.measuring import held_out_scores

ROUTES = ("straightforward", "single-step", "compound", "complex")


def questions(count):
    return [dspy.Example(question=f"{n}?", route=ROUTES[n % 4]).with_inputs("question") for n in range(count)]


def scores(examples, until=None, reply=lambda call: {"route": ROUTES[int(call.inputs["question"][:-1]) % 4]}):
    return held_out_scores("router", scripted_lm(reply), examples, "route", until, progress=False)


def test_a_label_is_scored_on_some_of_many():
    told = scores(questions(300))
    assert (told["n"], told["metric"]) == (200, "label")
    assert told["score"].startswith("1.000")
    assert told["macro_f1"].startswith("1.000")
    assert scores(questions(3), reply=lambda _: {"route": "complex"})["score"].startswith("0.000")


def test_where_no_time_is_left_a_few_are_measured():
    assert scores(questions(60), time.monotonic() - 5)["n"] == 8
    assert scores(questions(60), time.monotonic() + 600)["n"] == 60


def test_a_look_up_is_scored_by_the_words_of_it():
    example = dspy.Example(question="Who?", found="", seed_question="who led it").with_inputs("question", "found")
    told = held_out_scores(
        "refiner", scripted_lm(lambda _: {"seed_question": "who led it"}), [example], "seed_question", None, False
    )
    assert told == {"n": 1, "metric": "f1", "score": told["score"]}
    assert told["score"].startswith("1.000")


def test_what_cannot_be_measured_says_why():
    unlabelled = [dspy.Example(question="Who?").with_inputs("question")]
    assert "every example failed" in scores(unlabelled, reply=lambda _: {"route": "complex"})["failed"]
