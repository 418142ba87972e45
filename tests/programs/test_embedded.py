"""Every path of every program with the embedded model on the demo corpus: real text in, a real answer out.

The question's type is given, so that the path and not the classifier is tested.
"""

from importlib.resources import files
from importlib.util import find_spec

import aspectrag.data
import dspy
import pytest
from aspectrag.data.corpus import load_corpus
from aspectrag.data.index import build
from aspectrag.errors import AspectragError
from aspectrag.lms import fetch, load, scripted_lm
from aspectrag.programs.baselines.direct import Direct
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.typed_rag import TypedRag, TypedRagConfig

# Looked for and not imported: the engine keeps OpenVINO from reporting to its makers, and must come first.
pytestmark = [
    pytest.mark.embedded,
    pytest.mark.skipif(not find_spec("openvino_genai"), reason="openvino-genai is not installed"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    corpus = load_corpus([str(files(aspectrag.data) / "demo" / "corpus.jsonl")], progress=False)
    return build(corpus, tmp_path_factory.mktemp("demo") / "index", "bm25")


@pytest.fixture(scope="module")
def lm():
    try:
        fetch("lm", progress=False)
    except AspectragError as error:
        pytest.skip(f"no weights: {error}")
    return load("embedded", max_tokens=300)


def ask(program, lm, question, kind=None):
    roles = {"classify": scripted_lm({"type": kind})} if kind else {}
    with dspy.context(lm=lm, roles=roles):
        out = program(question=question)
    assert out.answer.strip()
    assert all(out.passages[citation.number - 1].id == citation.passage_id for citation in out.citations)
    stages = [step.name for step in out.trace.walk() if step.kind == "module"]
    return out, stages


def test_direct(lm):
    out, _ = ask(Direct(), lm, "What is the capital of Austria?")
    assert "Vienna" in out.answer


def test_rag(lm, index):
    out, _ = ask(Rag(None, index), lm, "Which English engineer designed the Széchenyi Chain Bridge?")
    assert "Clark" in out.answer


@pytest.mark.parametrize(
    ("kind", "question", "stages", "support"),
    [
        ("EVIDENCE-BASED", "How does a heat pump warm a house?", ["answer"], "demo:heat-pump"),
        ("COMPARISON", "How do honey bees and bumblebees differ?", ["extract_comparison", "answer_comparison"], "bee"),
        ("EXPERIENCE", "What do experienced beekeepers advise a beginner?", ["extract_experience", "answer"], "bee"),
        ("REASON", "Why did the reactor at Chernobyl explode?", ["reason_queries", "answer", "aggregate"], "chernobyl"),
        (
            "INSTRUCTION",
            "How do I start my own sourdough?",
            ["instruction_queries", "answer", "aggregate"],
            "sourdough",
        ),
        ("DEBATE", "Should wild animals be kept in zoos?", ["plan_debate", "answer", "mediate"], "zoo"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isupper() else "",
)
def test_typed_rag(lm, index, kind, question, stages, support):
    out, ran = ask(TypedRag(TypedRagConfig(k=3), index), lm, question, kind)
    assert out.route == kind
    assert not out.fallbacks
    assert list(dict.fromkeys(ran)) == ["classify", *stages]
    assert any(support in passage.id for passage in out.passages)
    if len(stages) == 3:
        assert 2 <= len(out.sub_questions) <= 5
        assert len(ran) == len(out.sub_questions) + 3
        assert all(part.answer for part in out.sub_questions)
    assert out.usage["completion_tokens"] > 0
