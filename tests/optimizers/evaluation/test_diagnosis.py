"""Where an answer was lost: one case per stage and route, told alike from a result and from what a run keeps of it."""

import dspy
import pytest
import ujson
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.optimizers.evaluation.diagnosis import Diagnosis, diagnose
from aspectrag.programs.baselines.adaptive import Adaptive
from aspectrag.programs.baselines.adaptive_retrieval import AdaptiveRetrieval
from aspectrag.programs.baselines.direct import Direct
from aspectrag.programs.baselines.ircot import Ircot
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.baselines.self_rag import SelfRag
from aspectrag.programs.trace import Trace, verbatim
from aspectrag.programs.typed_rag import TypedRag
from emma import AUTHOR, BOOK, COMPLEX, COMPOUND, NOISE, SINGLE, ask, reply, seed


def told(asked, result):
    """The diagnosis of a result; that of its record and its trace, as a run keeps them, must be the same."""
    found = diagnose(asked, result)
    kept = Trace.from_dict(ujson.loads(ujson.dumps(result.trace.to_dict())))
    again = diagnose(asked, ujson.loads(ujson.dumps(verbatim(result.toDict()))), kept)
    assert (again.stage, again.reason) == (found.stage, found.reason)
    assert (again.step and again.step.name) == (found.step and found.step.name)
    assert found.step is None or any(step is found.step for step in result.trace.walk())
    return found


def instead(of, answer, also=None):
    """Replies as they ought to be, but to one question; ``also`` to what puts the parts together."""

    def other(call):
        if "sub_answers" in call.inputs:
            return also or answer
        return answer if call.inputs["question"] == of else reply(call)

    return other


def irrelevant(title):
    return lambda call: call.inputs["title"] != title


@pytest.mark.parametrize("asked", [SINGLE, COMPLEX, COMPOUND], ids=lambda each: each.id)
def test_what_is_right_lost_nothing(asked):
    found = told(asked, ask(asked))
    assert (found.stage, found.step) == ("unknown", None)
    assert found.reason.startswith("nothing was lost")


COMPLEX_CASES = {
    "route": (
        {"route": "single-step"},
        ("route", "taken for single-step, it needs the look-ups of a complex question", "route"),
    ),
    "ends at once": (
        {"verdict": "end"},
        ("ending", "held to be enough after 0 of 2 hops", "judge_ending"),
    ),
    "ends early": (
        {
            "verdict": lambda call: "end" if "Jane" in call.inputs["found"] else "continue",
            "answer": instead("", "Jane"),
        },
        ("ending", "held to be enough after 1 of 2 hops", "judge_ending"),
    ),
    "may not go on": (
        {"config": {"max_steps": 1}, "answer": instead("", "Jane Austen")},
        ("ending", "no more are allowed than 1 of 2 hops", "HanRag"),
    ),
    "does not end": (
        {
            "config": {"max_steps": 3},
            "verdict": "continue",
            "answer": instead("", "London"),
            "seed_question": lambda call: "Is coal cheap?" if "Steventon" in call.inputs["found"] else seed(call),
        },
        ("ending", "all was found after 2 hops, 1 more were made", "judge_ending"),
    ),
    "asks the same": (
        {"seed_question": "Is coal cheap?", "answer": "Nothing"},
        ("decomposition", "no further question after 1 of 2 hops (repetition)", "refine"),
    ),
    "asks for something else": (
        {
            "config": {"max_steps": 2},
            "answer": instead("", "Nothing"),
            "seed_question": lambda call: "Is coal dirty?" if "cheap" in call.inputs["found"] else "Is coal cheap?",
        },
        ("decomposition", "no hop asks 'Who wrote Emma?'", "refine"),
    ),
    "not found": (
        {"passages": [AUTHOR, NOISE], "answer": instead("Who wrote Emma?", "Nobody")},
        ("retrieval", "no supporting passages were found for 'Who wrote Emma?' (missing: book)", "retrieve"),
    ),
    "judged away": (
        {"relevant": irrelevant("Emma"), "answer": instead("Who wrote Emma?", "Nobody")},
        ("relevance filter", "'Emma' was found and judged not to be relevant", "judge_relevance"),
    ),
    "judged away together": (
        {"config": {"judge": "together"}, "relevant": [1], "answer": instead("Who wrote Emma?", "Nobody")},
        ("relevance filter", "'Emma' was found and judged not to be relevant", "judge_relevance"),
    ),
    "left out": (
        {
            "config": {"keep_k": 1, "max_steps": 1},
            "answer": "Nobody",
            "passages": [NOISE.with_score(1.0), BOOK, AUTHOR],
            "seed_question": "Who wrote Emma, or wrote that?",
        },
        ("relevance filter", "'Emma' was found and left out of what is read", "answer"),
    ),
    "misread first": (
        {"config": {"max_steps": 2}, "answer": instead("Who wrote Emma?", "Burney")},
        ("reading", "the passages were read, the reply is 'Burney'", "answer"),
    ),
    "misread last": (
        {"config": {"max_steps": 2}, "answer": instead("Where was Jane Austen born?", "London")},
        ("reading", "the passages were read, the reply is 'London'", "answer"),
    ),
    "not put together": (
        {"answer": instead("", "London")},
        ("aggregation", "a reply holds it, the final answer does not: 'London'", "combine"),
    ),
}


@pytest.mark.parametrize("case", COMPLEX_CASES)
def test_a_complex_question_is_lost_by_the_first_hop_that_fails(case):
    changes, expected = COMPLEX_CASES[case]
    found = told(COMPLEX, ask(COMPLEX, **changes))
    assert (found.stage, found.reason, found.step.name) == expected


COMPOUND_CASES = {
    "route": ({"route": "single-step"}, "route", "route"),
    "a part is not asked": ({"sub_questions": ["Who wrote Emma?"], "answer": "Jane Austen"},
                            "decomposition", "decompose"),
    "not found": ({"passages": [BOOK, NOISE], "answer": instead(WHERE := "Where was Jane Austen born?", "Bath")},
                  "retrieval", "retrieve"),
    "judged away": ({"relevant": irrelevant("Jane Austen"), "answer": instead(WHERE, "Bath", "Jane Austen, Bath")},
                    "relevance filter", "judge_relevance"),
    "asked in other words": ({"sub_questions": ["Who wrote Emma?", "Steventon is whose cradle?"],
                              "answer": instead("Steventon is whose cradle?", "Bath", "Jane Austen")},
                             "reading", "answer"),
    "misread": ({"answer": instead(WHERE, "Bath", "Jane Austen, Bath")}, "reading", "answer"),
    "not put together": ({"answer": instead("", "Jane Austen")}, "aggregation", "combine"),
    # Both parts are lost: one was not found, the other is lost later.
    "the first counts": ({"passages": [BOOK, NOISE], "answer": "Nothing"}, "retrieval", "retrieve"),
    "no hop at all": ({"route": "complex", "verdict": "end"}, "ending", "judge_ending"),
    "hop by hop": ({"route": "complex", "answer": instead("", "Jane Austen")}, "aggregation", "combine"),
}  # fmt: skip


@pytest.mark.parametrize("case", COMPOUND_CASES)
def test_a_compound_question_is_lost_by_the_part_that_fails_first(case):
    changes, *expected = COMPOUND_CASES[case]
    found = told(COMPOUND, ask(COMPOUND, **changes))
    assert [found.stage, found.step.name] == expected


def thought(call):
    return (
        "Coal is cheap."
        if "passages" in call.inputs and "Emma" not in call.inputs["passages"]
        else "It is Jane Austen."
    )


PROGRAM_CASES = {
    "rag finds one of two": (COMPLEX, Rag, {"passages": [BOOK, NOISE]}, "retrieval", "retrieve"),
    "rag misreads": (COMPLEX, Rag, {}, "reading", "answer"),
    "rag reads a part alone": (COMPOUND, Rag, {"answer": "Jane Austen", "passages": [BOOK]}, "retrieval", "retrieve"),
    "han in a single step": (SINGLE, None, {"relevant": irrelevant("Emma"), "answer": "?"}, "relevance filter",
                             "judge_relevance"),
    "han from memory": (SINGLE, None, {"route": "straightforward", "answer": "?"}, "route", "route"),
    "direct": (SINGLE, Direct, {"answer": "Burney"}, "reading", "answer"),
    "adaptive without a look-up": (SINGLE, Adaptive, {"look_ups": "none", "answer": "Burney"}, "route", "classify"),
    "adaptive with one": (COMPLEX, Adaptive, {"look_ups": "single"}, "route", "classify"),
    "popular": (SINGLE, AdaptiveRetrieval, {"popularity": 5, "answer": "Burney"}, "route", "rate_popularity"),
    "sure": (SINGLE, AdaptiveRetrieval, {"config": {"test": "confidence"}, "confidence": 5, "answer": "Burney"},
             "route", "answer_directly"),
    "ircot ends early": (COMPLEX, Ircot, {"passages": [BOOK], "answered": True, "thought": "Coal."}, "ending", "think"),
    "ircot finds nothing": (COMPLEX, Ircot, {"passages": [BOOK], "thought": thought, "config": {"max_steps": 2},
                                             "answered": False}, "retrieval", "retrieve"),
    "ircot misreads": (COMPLEX, Ircot, {"thought": thought, "answered": False}, "reading", "answer"),
    "self-rag without a look-up": (SINGLE, SelfRag, {"retrieve": False, "answer": "?"}, "route", "judge_retrieval"),
    "self-rag judges away": (SINGLE, SelfRag, {"relevant": irrelevant("Emma"), "answer": "?"}, "relevance filter",
                             "judge_relevance"),
    "self-rag misreads": (SINGLE, SelfRag, {"answer": "Burney"}, "reading", "answer"),
    "self-rag chooses another": (
        SINGLE, SelfRag,
        {"answer": lambda call: "Jane Austen" if "written by" in call.inputs["passages"] else "Burney",
         "usefulness": lambda call: 5 if "Burney" in call.inputs["answer"] else 1},
        "aggregation", "judge_usefulness"),
    "typed by another type": (SINGLE, TypedRag, {"type": "DEBATE"}, "route", "classify"),
    "typed": (SINGLE, TypedRag, {"type": "EVIDENCE-BASED", "passages": [NOISE]}, "retrieval", "retrieve"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROGRAM_CASES)
def test_of_other_programs_as_much_as_their_traces_show(case):
    asked, program, changes, *expected = PROGRAM_CASES[case]
    changes.setdefault("answer", "Burney")
    sentences = {"sentences": [{"sentence": "Burney.", "passages": []}]}
    found = told(asked, ask(asked, program, **changes, **sentences))
    assert [found.stage, found.step.name] == expected


def test_what_was_looked_up_nowhere_says_so():
    assert (
        told(SINGLE, ask(SINGLE, Direct, answer="Burney")).reason == "no retrieval: answered from memory with 'Burney'"
    )


def test_hops_that_are_not_known_are_told_by_all_passages_and_by_their_number():
    asked = COMPLEX.copy(sub_questions=[])
    early = ask(asked, passages=[BOOK], verdict=lambda c: "end" if "Jane" in c.inputs["found"] else "continue")
    early.answer = "?"
    assert told(asked, early).stage == "ending"
    missed = ask(asked, passages=[BOOK], config={"max_steps": 2}, answer=instead("Where was Jane Austen born?", "Bath"))
    assert told(asked, missed).reason.startswith("1 of 2 supporting passages were found")
    assert told(asked, ask(asked, answer=instead("", "London"))).stage == "aggregation"
    compared = asked.copy(answers=["yes"], type="comparison")
    found = told(compared, ask(asked, answer=instead("", "no")))
    assert (found.stage, found.reason) == (
        "unknown", "all passages were read; what each reply ought to hold is not known",
    )  # fmt: skip


def test_a_part_without_a_passage_of_its_own_needs_one_that_holds_its_answer():
    parts = [{"question": part["question"], "answers": part["answers"]} for part in COMPLEX.sub_questions]
    asked = COMPLEX.copy(sub_questions=parts)
    where = {"answer": instead("Where was Jane Austen born?", "Bath"), "config": {"max_steps": 2}}
    assert told(asked, ask(asked, **where)).stage == "reading"
    assert told(asked, ask(asked, passages=[BOOK], **where)).stage == "retrieval"


def test_titles_tell_where_ids_are_not_known_and_chunks_are_their_passage():
    titled = SINGLE.copy(supporting_ids=[], supporting_titles=["Emma"])
    assert told(titled, ask(titled, answer="?")).stage == "reading"
    assert told(titled, ask(titled, answer="?", passages=[NOISE])).stage == "retrieval"
    chunk = type(BOOK)("book#1", BOOK.title, BOOK.text)
    assert told(SINGLE, ask(SINGLE, answer="?", passages=[chunk])).stage == "reading"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (question("q", "Who wrote Emma?"), "neither supporting passages nor answers"),
        (question("q", "Who wrote Emma?", ["Jane Austen"]), "no supporting passage is known for 'Who wrote Emma?'"),
        (
            question("q", "Who wrote Emma?", ["word " * 40], supporting_ids=["book"]),
            "the passages were read; no answer",
        ),
    ],
)
def test_what_cannot_be_told_says_why(asked, reason):
    found = told(asked, ask(SINGLE, answer="?"))
    assert found.stage == "unknown"
    assert found.reason.startswith(reason)


def test_without_a_trace_or_a_program_in_it_nothing_is_told():
    result = dspy.Prediction(answer="?", route="single-step")
    assert diagnose(SINGLE, result) == Diagnosis("unknown", "no trace was kept")
    assert diagnose(SINGLE, result, Trace()) == Diagnosis("unknown", "the trace holds no program")
