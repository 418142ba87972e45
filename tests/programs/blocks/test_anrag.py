"""ANRAG at its own level: what is judged, what reaches the generator, and what is done where nothing is left."""

import json
import threading
from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.blocks.anrag import Anrag, AnragConfig
from aspectrag.programs.blocks.answering import STYLES, SubQuestion
from aspectrag.programs.trace import record
from aspectrag.signatures import JudgeRelevance, SelectRelevant
from dspy.lm15 import AuthError, ContextLengthError
from fakes import ListRetriever, by_fields

QUESTION = "maribor?"
PASSAGES = [Passage(f"p{n}", f"T{n}", f"Maribor, part {n}.") for n in range(6)]
DIRECT, FROM_PASSAGES = "from memory", "from passages [1]"


def shown(call):
    return [passage["title"] for passage in json.loads(call.inputs["passages"])]


class Run:
    """ANRAG on a scripted model, with what it called and flagged."""

    def __init__(self, retriever=None, reply=None, relevant=None, answer=None, **settings):
        self.retriever = retriever or ListRetriever(PASSAGES)
        usual = by_fields(
            relevant=relevant if relevant is not None else self.all_of_them,
            answer=answer or (lambda call: FROM_PASSAGES if "passages" in call.inputs else DIRECT),
        )
        self.lm = scripted_lm((lambda call: reply(call) or usual(call)) if reply else usual)
        config = AnragConfig(**{"max_attempts": 2, **settings})
        style = STYLES[config.answers]
        signatures = (config.judgement, style.from_passages, style.directly)
        self.anrag = Anrag(config, self.retriever, *map(dspy.Predict, signatures))

    @staticmethod
    def all_of_them(call):
        return True if "passage" in call.inputs else list(range(1, 7))

    def __call__(self, work):
        with dspy.context(lm=self.lm, fallbacks=[]):
            out = work(self.anrag)
            self.flags = [(flag.stage, flag.reason) for flag in dspy.settings.fallbacks]
        calls = self.lm.engine.calls
        self.judging = [call for call in calls if call.fields == ("relevant",)]
        self.generating = [call for call in calls if call.fields != ("relevant",)]
        return out

    def reply(self, passages=PASSAGES):
        return self(lambda anrag: anrag.reply(QUESTION, passages))


def none(call):
    return False if "passage" in call.inputs else []


def test_the_judge_is_asked_for_what_it_is_set_to():
    bad: Any = "give up"
    assert AnragConfig().judgement is JudgeRelevance
    assert AnragConfig(judge="together").judgement is SelectRelevant
    with pytest.raises(AspectragError, match="on_empty must be closed_book or top1 or unfiltered, not 'give up'"):
        AnragConfig(on_empty=bad)


def test_all_questions_are_searched_in_one_batch_and_twins_are_one_passage():
    retriever = ListRetriever([*PASSAGES[:2], Passage("twin", "Twin", PASSAGES[0].text)])
    run = Run(retriever, k=4)
    found = run(lambda anrag: anrag.search(["maribor?", "xyzzy", "part?"]))
    assert retriever.searches == [(["maribor?", "xyzzy", "part?"], 4)]
    assert [[p.id for p in passages] for passages in found] == [["p0", "p1"], [], ["p0", "p1"]]


@pytest.mark.parametrize("judge", ["each", "together"])
@pytest.mark.parametrize(("keep_k", "kept"), [(1, [1]), (2, [1, 3]), (3, [1, 3, 4]), (9, [1, 3, 4, 5])])
def test_the_first_of_the_relevant_reach_the_generator_in_the_order_found(judge, keep_k, kept):
    def good(call):
        return call.inputs["title"][1] in "1345" if "passage" in call.inputs else [6, 2, 5, 4]

    run = Run(judge=judge, keep_k=keep_k, relevant=good)
    assert run.reply() == SubQuestion(QUESTION, FROM_PASSAGES, tuple(PASSAGES[n] for n in kept))
    assert run.flags == []
    assert len(run.judging) == (6 if judge == "each" else 1)
    (generation,) = run.generating
    assert (shown(generation), generation.inputs["question"]) == ([f"T{n}" for n in kept], QUESTION)


def test_without_the_filter_the_first_are_used_and_nothing_is_judged():
    run = Run(relevance=False, keep_k=2)
    assert run.reply().passages == tuple(PASSAGES[:2])
    assert (run.judging, run.flags) == ([], [])


@pytest.mark.parametrize("judge", ["each", "together"])
@pytest.mark.parametrize(
    ("on_empty", "used", "said"),
    [("closed_book", 0, "without passages"), ("top1", 1, "from the best 1"), ("unfiltered", 2, "from the best 2")],
)
def test_where_no_passage_is_relevant_the_setting_says_what_is_done(judge, on_empty, used, said):
    run = Run(judge=judge, on_empty=on_empty, keep_k=2, relevant=none)
    part = run.reply()
    assert part == SubQuestion(QUESTION, FROM_PASSAGES if used else DIRECT, tuple(PASSAGES[:used]))
    assert run.flags == [("judge_relevance", f"no passage is held to be relevant; answered {said}")]
    assert [("passages" in call.inputs) for call in run.generating] == [bool(used)]


@pytest.mark.parametrize("settings", [{}, {"relevance": False}, {"on_empty": "unfiltered"}, {"judge": "together"}])
def test_where_nothing_is_found_it_answers_without_passages(settings):
    run = Run(**settings)
    assert run.reply([]) == SubQuestion(QUESTION, DIRECT)
    assert run.flags == [("retrieve", "nothing was found; answered without passages")]
    assert (run.judging, len(run.generating)) == ([], 1)


@pytest.mark.parametrize("judge", ["each", "together"])
@pytest.mark.parametrize("said", ["Perhaps.", ContextLengthError("too long")], ids=["prose", "too long"])
def test_a_judge_that_gives_nothing_leaves_the_first_flagged(judge, said):
    run = Run(judge=judge, reply=lambda call: said if call.fields == ("relevant",) else None)
    assert run.reply().passages == tuple(PASSAGES[:3])
    assert [stage for stage, _ in run.flags] == ["judge_relevance"] * (6 if judge == "each" else 1)


def test_verdicts_out_of_range_leave_the_first_flagged():
    run = Run(judge="together", relevant=[7, 0])
    assert run.reply().passages == tuple(PASSAGES[:3])
    assert run.flags == [
        ("judge_relevance", "numbers [0, 7], where 6 passages were shown; the passages are kept unjudged")
    ]


def test_an_answer_cites_only_what_its_part_carries():
    run = Run(answer="Yes [2] [4], no [9].", relevant=lambda call: call.inputs["title"] in ("T2", "T5"))
    part = run.reply()
    assert (part.answer, part.passages) == ("Yes [2], no.", (PASSAGES[2], PASSAGES[5]))


def test_an_answer_from_memory_has_nothing_to_cite():
    assert Run(answer="Yes [2], no [9].", relevant=none).reply() == SubQuestion(QUESTION, "Yes, no.")


def test_a_generator_whose_window_is_too_small_gets_fewer_passages():
    def reply(call):
        return ContextLengthError("too long") if "passages" in call.inputs and len(shown(call)) > 1 else None

    run = Run(reply=reply)
    assert run.reply().passages == (PASSAGES[0],)
    assert run.flags == [("answer", "the prompt exceeds the context window; 1 passages are kept")]


@pytest.mark.parametrize("cites", [[], [1]])
@pytest.mark.parametrize("answers", ["full", "brief"])
def test_not_knowing_is_flagged_whatever_it_cites(answers, cites):
    run = Run(answers=answers, reply=lambda call: None if "relevant" in call.fields else {
        "answer": "Unknown", "citations": cites
    })  # fmt: skip
    assert run.reply().answer == ("Unknown [1]" if cites else "Unknown")
    assert run.flags == [("answer", "the model says that it does not know: Unknown")]


def test_parts_run_side_by_side_and_all_is_put_down_in_their_order():
    questions = ["maribor?", "xyzzy", "part?"]
    together = threading.Barrier(3, timeout=10)

    def reply(call):
        if call.fields != ("relevant",):
            together.wait()

    run = Run(reply=reply, relevant=lambda call: call.inputs["question"] == "maribor?", keep_k=1)
    with record() as trace:
        parts = run(lambda anrag: anrag.reply_all(questions, "sub-question"))
    assert len(run.retriever.searches) == 1
    assert [(part.question, part.answer, [p.id for p in part.passages]) for part in parts] == [
        ("maribor?", FROM_PASSAGES, ["p0"]),
        ("xyzzy", DIRECT, []),
        ("part?", DIRECT, []),
    ]
    assert [stage for stage, _ in run.flags] == ["retrieve", "judge_relevance"]
    assert [step.name for step in trace.steps if step.kind == "branch"] == [f"sub-question {n}" for n in (1, 2, 3)]


def test_no_questions_have_no_answers():
    run = Run()
    assert run(lambda anrag: anrag.reply_all([], "sub-question")) == []
    assert run.lm.engine.calls == []


def test_a_model_that_refuses_is_an_error():
    with pytest.raises(dspy.LMError):
        Run(reply=lambda call: AuthError("no key")).reply()
