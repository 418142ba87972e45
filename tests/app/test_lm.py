from pathlib import Path

import pytest
from aspectrag.app import lm


@pytest.mark.parametrize(("installed", "expected"), [(True, ["smollm2"]), (False, [])])
def test_what_is_fetched_is_converted_where_it_can_be(run, monkeypatch, installed, expected):
    made = []
    monkeypatch.setattr(lm, "fetch", lambda name: Path("weights") / name)
    monkeypatch.setattr(lm, "find_spec", lambda name: installed or None)
    monkeypatch.setattr(lm, "converted", lambda: made.append("smollm2"))
    code, out, _ = run("lm", "pull", "smollm2")
    assert (code, made) == (0, expected)
    assert "smollm2: weights/smollm2" in out
