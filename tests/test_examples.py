"""The examples in the docstrings are run, so that they cannot rot."""

import doctest
import importlib
import pkgutil

import aspectrag
import pytest

# Scripts of a process of their own, which import OpenVINO.
SCRIPTS = ("aspectrag.lms.worker", "aspectrag.lms.conversion")
NOT_OURS = ("aspectrag.tests", "aspectrag.benchmarks", "aspectrag.build", "aspectrag.notebooks")


def modules():
    for module in pkgutil.walk_packages(aspectrag.__path__, "aspectrag."):
        if not module.name.startswith((*NOT_OURS, *SCRIPTS)) and not module.name.endswith("__main__"):
            yield module.name


@pytest.mark.parametrize("name", modules())
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
