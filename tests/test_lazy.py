"""What the rooms give by name: it is there, costs nothing until it is asked for, and shows how it is used."""

import importlib
import importlib.resources
import inspect
import subprocess
import sys

import pytest
from aspectrag.lazy import lazy

PACKAGES = (
    "data", "lms", "programs", "programs.blocks", "optimizers.compiling", "optimizers.evaluation", "optimizers.metrics",
    "optimizers.ranker", "optimizers.tuning",
)  # fmt: skip
# What comes back from a call that has an example.
RETURNED = {"CheckResult", "Compiled", "Diagnosis", "Report", "ScriptedCall", "Step", "Swapped"}


def tables():
    for package in PACKAGES:
        module = importlib.import_module(f"aspectrag.{package}")
        for name in module._HOMES:
            yield pytest.param(module, name, id=f"{package}.{name}")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_table_is_all_that_its_package_has(package):
    module = importlib.import_module(f"aspectrag.{package}")
    assert set(module.__all__) == set(module._HOMES)
    modules = {path.stem for path in importlib.resources.files(module).iterdir() if path.suffix == ".py"}
    assert modules & set(module._HOMES) == set()


@pytest.mark.parametrize(("module", "name"), tables())
def test_a_name_is_there_and_shows_how_it_is_used(module, name):
    found = getattr(module, name)
    home = importlib.import_module(f"{module.__name__}.{module._HOMES[name]}")
    assert found is getattr(home, name)
    if name.isupper() or name in RETURNED:
        return
    assert "Example:" in (inspect.getdoc(found) or "")


def test_a_name_that_is_not_there_is_told():
    get, names = lazy("aspectrag", {"AspectragError": "errors"})
    assert names() == ["AspectragError"]
    with pytest.raises(AttributeError, match="module 'aspectrag' has no attribute 'nobody'"):
        get("nobody")


def test_entering_a_room_costs_nothing():
    rooms = ", ".join(f"aspectrag.{package}" for package in PACKAGES)
    heavy = "dspy", "torch", "numpy", "pydantic"
    script = f"import sys, {rooms}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
