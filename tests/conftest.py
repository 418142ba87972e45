"""Every test starts from fresh DSPy settings, an empty cache of its own, and no network."""

import os
import signal
import socket
import time

import dspy
import pytest
from dspy.dsp.utils.settings import DEFAULT_CONFIG, thread_local_overrides

# What a shell runs in the background ignores Ctrl-C, and so would the commands that are interrupted here.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The embedded model takes a minute a test on slow processors: there the first tests of it must do.
EMBEDDED_MINUTES = float(os.environ.get("ASPECTRAG_EMBEDDED_MINUTES", "5"))
_spent = {"embedded": 0.0}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Keep count of the time that tests of the embedded model take."""
    started = time.monotonic()
    try:
        return (yield)
    finally:
        if "embedded" in item.keywords:
            _spent["embedded"] += time.monotonic() - started


def pytest_runtest_setup(item):
    """Skip tests of the embedded model once they have had their time."""
    if "embedded" in item.keywords and _spent["embedded"] > 60 * EMBEDDED_MINUTES:
        pytest.skip(
            f"the embedded model is slow here: its tests have had their {EMBEDDED_MINUTES:g} minutes "
            "(ASPECTRAG_EMBEDDED_MINUTES=60 runs more)"
        )


@pytest.fixture(autouse=True)
def _fresh_dspy():
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    yield
    dspy.settings.configure(**{**DEFAULT_CONFIG, "trace": []})
    thread_local_overrides.set(type(thread_local_overrides.get())())


@pytest.fixture(autouse=True)
def _home(tmp_path_factory, monkeypatch, request):
    """Caches go to a folder of the test; tests of the embedded model share the real one, where the weights are."""
    if "embedded" not in request.keywords:
        monkeypatch.setenv("ASPECTRAG_HOME", str(tmp_path_factory.mktemp("home")))
    for name in ("OPENAI_API_KEY", "ASPECTRAG_LM", "ASPECTRAG_API_BASE", "ASPECTRAG_PROFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Only loopback answers: a test that reaches out fails, wherever it runs."""
    connect = socket.socket.connect

    def guarded(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"tests run without network: connection to {address[0]} refused")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
