"""Questions of every kind about one book, its passages, and replies that lead to right answers, but for ``changes``."""

import dspy
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from fakes import ListRetriever, by_fields

BOOK = Passage("book", "Emma", "Emma was written by Jane Austen.")
AUTHOR = Passage("author", "Jane Austen", "Jane Austen, the author, was born in Steventon.")
NOISE = Passage("noise", "Coal", "Coal is cheap; who wrote that?")
PASSAGES = [BOOK, AUTHOR, NOISE]
WRITER = {"question": "Who wrote Emma?", "answers": ["Jane Austen"], "supporting_id": "book"}
PLACE = {"question": "Where was Jane Austen born?", "answers": ["Steventon"], "supporting_id": "author"}
BOTH = ["book", "author"]
SINGLE = question("single", "Who wrote Emma?", ["Jane Austen"], type="FACTOID", hops=1, supporting_ids=["book"])
COMPLEX = question(
    "complex", "Where was the author of Emma born?", ["Steventon"],
    type="bridge", hops=2, supporting_ids=BOTH, sub_questions=[WRITER, PLACE],
)  # fmt: skip
COMPOUND = question(
    "compound", "Who wrote Emma, and where was Jane Austen born?", ["Jane Austen && Steventon"],
    type="compound-2", hops=1, supporting_ids=BOTH, sub_questions=[WRITER, PLACE],
)  # fmt: skip
_REPLIES = {"Who wrote Emma?": "Jane Austen", "Where was Jane Austen born?": "Steventon"}
_ROUTES = {SINGLE.question: "single-step", COMPLEX.question: "complex", COMPOUND.question: "compound"}


def seed(call):
    return "Where was Jane Austen born?" if "Jane Austen" in call.inputs["found"] else "Who wrote Emma?"


def verdict(call):
    return "end" if "Steventon" in call.inputs["found"] else "continue"


def reply(call):
    if "sub_answers" in call.inputs:
        return "Jane Austen, Steventon"
    return _REPLIES.get(call.inputs["question"], "Nothing")


def replies(**changes):
    """Right replies to HANRAG, but for some fields."""
    right = {
        "route": lambda call: _ROUTES[call.inputs["question"]],
        "sub_questions": ["Who wrote Emma?", "Where was Jane Austen born?"],
        "seed_question": seed,
        "verdict": verdict,
        "relevant": True,
        "answer": reply,
        "citations": [],
    }
    return by_fields(**{**right, **changes})


def ask(asked, program=None, *, passages=PASSAGES, config=None, **changes):
    """The result of a program, by default HANRAG."""
    cls = program or HanRag
    settings = HanRagConfig(**(config or {})) if cls is HanRag else cls.config_class(**(config or {}))
    with dspy.context(lm=scripted_lm(replies(**changes))):
        return cls(settings, ListRetriever(passages))(question=asked.question)
