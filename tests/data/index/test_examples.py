import doctest
import importlib
import pkgutil

import aspectrag.data.index
import pytest

MODULES = [module.name for module in pkgutil.iter_modules(aspectrag.data.index.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(f"aspectrag.data.index.{name}")).failed == 0
