"""Tiny local models, made once."""

import pytest
from tiny import tiny_adapter, tiny_base


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A base with random weights."""
    return tiny_base(tmp_path_factory.mktemp("local") / "base")


@pytest.fixture(scope="session")
def adapters(base):
    """Three adapters for it."""
    return [tiny_adapter(base.parent / f"adapter-{seed}", base, seed) for seed in (1, 2, 3)]
