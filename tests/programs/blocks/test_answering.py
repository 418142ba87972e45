import json

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.blocks.answering import SubQuestion, answer_from, generate, pooled
from aspectrag.signatures import AnswerDirectly, AnswerFromPassages, WriteRichAnswer
from dspy.lm15 import ContextLengthError

PASSAGES = [Passage(str(n), f"T{n}", f"text {n}") for n in range(8)]


def ask(reply, passages=PASSAGES):
    with dspy.context(lm=scripted_lm(reply), fallbacks=[]):
        answer, shown = answer_from("answer", dspy.Predict(AnswerFromPassages), 2, passages, question="why?")
        return answer, shown, dspy.settings.fallbacks


def test_passages_are_halved_until_the_model_takes_them():
    def reply(call):
        count = len(json.loads(call.inputs["passages"]))
        return ContextLengthError("too long") if count > 3 else {"answer": f"{count} [1] [3].", "citations": []}

    answer, shown, fallbacks = ask(reply)
    assert answer == "2 [1]."
    assert shown == PASSAGES[:2]
    assert [f.reason for f in fallbacks] == [
        "the prompt exceeds the context window; 4 passages are kept",
        "the prompt exceeds the context window; 2 passages are kept",
    ]


def test_one_passage_too_long_is_an_error():
    with pytest.raises(dspy.ContextWindowExceededError):
        ask(lambda call: ContextLengthError("too long"))


@pytest.mark.parametrize("said", ["[1]", "[1] [2, 3]", "  "])
def test_citations_alone_are_no_answer(said):
    answer, _, fallbacks = ask(lambda call: {"answer": said, "citations": [1]})
    assert fallbacks[0].reason.startswith("the answer is empty")
    assert answer == ""


def test_what_never_parses_is_kept_in_the_models_own_words():
    with dspy.context(lm=scripted_lm(lambda call: "Just because."), fallbacks=[]):
        assert generate("answer", dspy.Predict(AnswerDirectly), 2, question="why?") == "Just because."
        assert "own words" in dspy.settings.fallbacks[0].reason


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("[[ ## answer ## ]]\nSo it is.\n\n[[ ## citations ## ]]\nall of them", "So it is."),
        ('{"answer": "So it is.", "citations": [1.5, 2.5]}', "So it is."),
        ("None", ""),
        ('{"answer": null}', ""),
    ],
)
def test_of_a_reply_that_does_not_parse_the_answer_is_kept(said, kept):
    answer, _, fallbacks = ask(lambda call: said)
    assert answer == kept
    assert fallbacks


def test_pooled_answers_cite_into_one_list():
    a, b = PASSAGES[:2]
    parts = [SubQuestion("q1", "One [1].", (b,)), SubQuestion("q2", "Two [1] [2].", (a, b))]
    passages, answers = pooled(parts)
    assert passages == [b, a]
    assert answers == ["One [1].", "Two [2] [1]."]


def written(*sentences):
    """What becomes of sentences, each with its passages, three of which there are."""
    passages = [Passage(id, "", f"Text {id}.") for id in "abc"]
    reply = {"sentences": [{"sentence": text, "passages": numbers} for text, numbers in sentences]}
    with dspy.context(lm=scripted_lm(reply), fallbacks=[]):
        answer, _ = answer_from("write", dspy.Predict(WriteRichAnswer), 1, passages, question="Why?", aspects=[])
        return answer, [fallback.reason for fallback in dspy.settings.fallbacks]


@pytest.mark.parametrize(
    ("sentences", "answer"),
    [
        ([("It is cheap.", [1]), ("It is dirty.", [3, 2])], "It is cheap. [1] It is dirty. [2][3]"),
        ([("It is cheap.", [1]), ("It is dirty.", [])], "It is cheap. [1] It is dirty."),
        ([("A.", [1]), ("B.", [2]), ("A.", [3]), ("C.", [2]), ("B.", [2])], "A. [1] B. [2] C. [2]"),
        ([("A.", [1]), ("A. [2]", [2])], "A. [1]"),
        ([("It is cheap [1].", [1]), ("", [2]), ("  ", []), ("[2]", [2])], "It is cheap. [1]"),
        ([("It is cheap.", [0, -1, 4, 99, 2, 2])], "It is cheap. [2]"),
        ([("It is cheap.", [7])], "It is cheap."),
        ([("煤很便宜。", [1]), ("也很脏。", [2])], "煤很便宜。 [1] 也很脏。 [2]"),
        ([("A\ud83d.", [1])], "A?. [1]"),
    ],
)
def test_sentences_are_said_once_in_their_order_each_with_its_citations(sentences, answer):
    assert written(*sentences) == (answer, [])


@pytest.mark.parametrize("sentences", [[], [("", [1])], [("[1]", [1]), (" ", [])]])
def test_sentences_that_say_nothing_are_no_answer(sentences):
    answer, reasons = written(*sentences)
    assert not answer
    assert reasons == ["the answer is empty; no answer"]
