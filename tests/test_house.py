"""The house itself: what is packaged, which room may enter which, and that nothing of a workplace is written down."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import aspectrag
import pytest

ROOT = Path(aspectrag.__file__).parent
NOT_PACKAGES = {"tests", "benchmarks", "notebooks", "build", "dist"}
# Which rooms a room may import from; errors.py, home.py, lazy.py, texts.py and whole.py are open to all.
ARROWS = {
    "signatures": set(),
    "data": set(),
    "lms": set(),
    "programs": {"signatures", "data", "lms"},
    "optimizers": {"signatures", "data", "lms", "programs"},
    "app": {"signatures", "data", "lms", "programs", "optimizers"},
}


def sources():
    for room in ARROWS:
        yield from sorted((ROOT / room).rglob("*.py"))


def test_every_package_is_listed_in_pyproject():
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("runs from a checkout")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {"aspectrag"}
    for init in ROOT.rglob("__init__.py"):
        parts = init.parent.relative_to(ROOT).parts
        if parts and parts[0] not in NOT_PACKAGES and not any(part.startswith(".") for part in parts):
            found.add(".".join(("aspectrag", *parts)))
    found.add("aspectrag.data.demo")  # data alone, no code
    assert set(settings["tool"]["setuptools"]["packages"]) == found


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path):
    room = path.relative_to(ROOT).parts[0]
    depth = len(path.relative_to(ROOT).parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == depth and node.module:
            target = node.module.split(".")[0]
            assert target in {room, "errors", "home", "lazy", "texts", "whole"} | ARROWS[room], (
                f"line {node.lineno}: {room} may not import {target}"
            )
            if room == "programs" and target == "data":
                known = {"data.passages", "data.index.retriever", "data.sentences", "data.construction.facets"}
                known |= {"data.construction.checks", "data.construction.references"}
                if path.parent.name == "rankers":  # the learned ranker brings its own encoder
                    known |= {"data.index.encoder"}
                assert node.module in known, f"line {node.lineno}: programs reach passages through the protocol alone"
            if room == "programs" and target == "lms":
                known = {"lms.tokens"} | ({"lms.artifacts"} if path.parent.name == "rankers" else set())
                assert node.module in known, f"line {node.lineno}: programs only count tokens, DSPy gives the LM"
        if isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == "aspectrag" for alias in node.names), f"line {node.lineno}"


def test_importing_the_root_costs_nothing():
    script = (
        "import sys, aspectrag; print(sorted(m for m in sys.modules if m.split('.')[0] in ('dspy','torch','numpy')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_of_one_machine_or_workplace_is_committed():
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("runs from a git checkout")
    pattern = re.compile(r"(?<![\w.])/(?:work|root|farm|home/\w+)/|pypi\.org|pythonhosted")
    for name in done.stdout.split("\0"):
        path = ROOT / name
        if name and path.suffix in {".py", ".md", ".toml", ".json", ".txt", ".ipynb", ""} and path.is_file():
            if name == "tests/test_house.py":
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not (found := pattern.search(text)), f"{name}: {found and found[0]}"
