"""A wheel holds the packages, their data and nothing else, and works away from the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import aspectrag
import pytest
from aspectrag.programs.registry import METHODS

ROOT = Path(aspectrag.__file__).parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("runs from a checkout")
    pytest.importorskip("setuptools")
    out = tmp_path_factory.mktemp("wheel")
    # A copy, so that the build leaves nothing in the checkout.
    source = tmp_path_factory.mktemp("source") / "checkout"
    files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True)
    for name in filter(None, files.stdout.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    shipped = source / "programs" / "compiled" / "han" / "a-model-0123456789ab"
    shipped.mkdir(parents=True)
    (shipped / "state.json").write_text("{}")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def test_wheel_holds_the_packages_and_their_data(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("aspectrag/", "aspectrag-")) for name in names)
    assert {"aspectrag/py.typed", "aspectrag/errors.py", "aspectrag/programs/typed_rag.py"} <= set(names)
    assert {"aspectrag/data/demo/corpus.jsonl", "aspectrag/data/demo/questions.jsonl"} <= set(names)
    assert "aspectrag/programs/rankers/pointer/model.safetensors" in names
    assert "aspectrag/programs/compiled/han/a-model-0123456789ab/state.json" in names
    assert "aspectrag/app/views/templates/report.html" in names
    assert "aspectrag/programs/showing/templates/trace.html" in names
    left_out = ("aspectrag/benchmarks/", "aspectrag/notebooks/")
    assert not [name for name in names if "/tests/" in name or name.startswith(left_out) or "conftest" in name]


def test_wheel_works_away_from_the_checkout(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = "import aspectrag.programs.registry as r, aspectrag; print(aspectrag.__file__, *r.METHODS)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(str(tmp_path))
    assert done.stdout.split()[1:] == list(METHODS)
