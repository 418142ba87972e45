from pathlib import Path

from aspectrag.home import home


def test_it_is_where_it_was_said_to_be_else_in_the_cache(monkeypatch):
    monkeypatch.setenv("ASPECTRAG_HOME", "~/here")
    assert home() == Path.home() / "here"
    monkeypatch.setenv("ASPECTRAG_HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert home() == Path("/somewhere/aspectrag")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert home() == Path.home() / ".cache" / "aspectrag"
