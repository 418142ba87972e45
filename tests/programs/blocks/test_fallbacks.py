"""Why a simpler path was taken: what could not be used of a model's output is told from all else."""

import ast
from pathlib import Path

import pytest
from aspectrag import programs
from aspectrag.programs.blocks.fallbacks import is_unusable_output

ROOT = Path(programs.__file__).parent
# They make data sets, and have no simpler path.
MAKERS = {"annotation.py", "compounding.py", "references.py"}


def texts(name, place=0):
    """What is said to every call of this name, with 3 for what is filled in."""
    for file in sorted(ROOT.rglob("*.py")):
        if file.name in MAKERS:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield file.name, said(node.args[place])


def said(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(said(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return said(node.left)
    return str(node.value) if isinstance(node, ast.Constant) else "3"


def filled(text):
    return text.replace("numbers 3", "numbers [11]").replace("3 3 where", "3 distinct sub-questions where")


def test_all_that_refuses_an_output_is_known():
    refusals = [(file, filled(text)) for file, text in texts("RejectedOutputError")]
    assert len(refusals) >= 6
    for file, text in refusals:
        assert is_unusable_output(f"{text}; no answer"), f"{file}: {text}"


def test_no_other_fallback_is_taken_for_one():
    others = [(file, text) for file, text in texts("fall_back", 1) if not text.startswith("3; ")]
    assert len(others) >= 12
    for file, text in others:
        assert not is_unusable_output(text), f"{file}: {text}"


@pytest.mark.parametrize(
    ("reason", "unusable"),
    [
        ("the output does not parse; plain RAG instead", True),
        ("the output was cut off at max_tokens; the model's own words are kept", True),
        ("the prompt exceeds the context window; plain RAG instead", False),
        ("the question is held to compare nothing; plain RAG instead", False),
        ("asked for the same again (the output does not parse); answered from what was found", False),
    ],
)
def test_reasons_of_stages(reason, unusable):
    assert is_unusable_output(reason) == unusable
