"""The notebooks run from top to bottom: each with scripted models, and with the ones it names."""

import ast
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import aspectrag
import nbformat
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import fetch
from nbclient import NotebookClient

FOLDER = Path(aspectrag.__file__).parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SUPPORT = Path(__file__).parent / "support"
STAND_INS = {"lm", "encoder"}
# What each is there to show, as it stands in the outputs of the scripted run, and the files that it leaves.
SHOWN = {
    "1_ask_and_inspect": (["COMPARISON", "'lm_calls': 3", "'cached_calls': 2", "retrieve"], ["runs/1/trace.html"]),
    "2_own_documents": (["The Starter plan", "Holiday rules", "1 new", "[1]"], ["runs/2/index"]),
    "3_compile_a_stage": (["wrong -> right", "program is kept", "(8, 'compound')"], ["runs/3/router/report.json"]),
    "4_swap_the_lm": (["William Tierney Clark", "About Which English", "completion_tokens"], ["runs/4/swap"]),
    "5_evaluate_and_diagnose": (["reading", "aggregation", "lost at: HanRag"], ["runs/5/demo/han/metrics.json"]),
    "6_train_the_ranker": (["validation", "trained", "epoch"], ["runs/6/ranker/model.safetensors"]),
}  # fmt: skip
# A command that fails says so, and the notebook would go on.
CHECKED = """
_shell = get_ipython()
def _system(command, _run=_shell.system):
    _run(command)
    assert _shell.user_ns["_exit_code"] == 0, command
_shell.system = _system
"""

pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason="runs from a checkout")
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a notebook in a folder of its own, with the interpreter of the tests, and give it back with its outputs."""
    spec = tmp_path / "jupyter" / "kernels" / "tests" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Tests", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "DSPY_CACHEDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):  # whoever reaches out from the kernel fails
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (tmp_path / "work").mkdir()

    def call(notebook):
        notebook.cells.insert(0, nbformat.v4.new_code_cell(CHECKED))
        resources = {"metadata": {"path": str(tmp_path / "work")}}
        try:
            NotebookClient(notebook, timeout=600, kernel_name="tests", resources=resources).execute()
        except OSError as error:
            pytest.skip(f"no kernel can be started here: {error}")
        return tmp_path / "work"

    return call


def tags(cell):
    return set(cell.metadata.get("tags", ()))


def scripted(notebook):
    """The notebook, with the cells that load models replaced by what stands in for them."""
    for cell in notebook.cells:
        if tags(cell) & STAND_INS:
            loaded = [target.id for node in ast.parse(cell.source).body for target in node.targets]
            cell.source = f"from notebook_models import {', '.join(loaded)}"
    return notebook


def outputs(notebook, kind):
    """All outputs of a MIME type, or all that was printed."""
    for output in (output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs):
        if output.output_type == "stream" and kind == "text/plain":
            yield output.text
        elif kind in output.get("data", {}):
            yield output.data[kind]


def test_there_are_six():
    assert [path.stem for path in NOTEBOOKS] == list(SHOWN)


@each_notebook
def test_committed_without_outputs_and_says_what_it_shows_and_takes(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    first, *_ = notebook.cells
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    assert "**Shows:**" in first.source
    assert "**Takes:** about " in first.source
    assert " minutes " in first.source
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert [tags(cell) for cell in code].count({"lm"}) == 1
    assert all(cell.id.replace("-", "").isalpha() for cell in notebook.cells)
    assert path.stat().st_size < 10_000


@each_notebook
def test_runs_with_scripted_models(path, run, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # what is trained is tiny, and other tests run beside it
    notebook = scripted(nbformat.read(path, as_version=4))
    work = run(notebook)
    words, files = SHOWN[path.stem]
    said = "\n".join(each for kind in ("text/plain", "text/html") for each in outputs(notebook, kind))
    assert [word for word in words if word not in said] == []
    assert [file for file in files if not (work / file).exists()] == []
    pictures = list(outputs(notebook, "image/png"))
    assert list(outputs(notebook, "text/html"))
    assert bool(pictures) == path.stem.startswith("6")


@pytest.mark.embedded
@pytest.mark.skipif(not find_spec("openvino_genai"), reason="openvino-genai is not installed")
@each_notebook
def test_runs_with_the_embedded_model(path, run):
    notebook = nbformat.read(path, as_version=4)
    source = "\n".join(cell.source for cell in notebook.cells)
    wanted = {"lm": True, "smollm2": "local/smollm2" in source, "encoder": 'fetch("encoder")' in source}
    try:
        for name in (name for name, needed in wanted.items() if needed):
            fetch(name, progress=False)
    except AspectragError as error:
        pytest.skip(f"no weights: {error}")
    run(notebook)
    assert list(outputs(notebook, "text/html"))
