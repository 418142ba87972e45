import pytest
from aspectrag.app.views.report.facts import facts, names_of
from aspectrag.errors import AspectragError
from evaluation import failing
from reports import scored_run


def test_what_all_runs_share_is_said_once_and_what_they_do_not_for_each(tmp_path):
    runs = [scored_run(tmp_path, "rag"), scored_run(tmp_path, "other")]
    found = {fact.label: fact.values for fact in facts(runs)}
    assert found["benchmark"] == ("topics",)
    assert found["split"] == ("dev",)
    assert found["questions"] == ("9, a sample of at most 9 with seed 7",)
    assert found["method"] == ("rag", "other")
    assert found["language model"] == ("scripted, temperature 0.0",)
    assert "judge" not in found
    assert found["versions"][0].startswith("aspectrag 0")
    assert "system" in found["machine"][0]
    assert found["started"][0].startswith("20")


def test_runs_are_named_by_as_much_of_their_path_as_tells_them_apart(tmp_path):
    before, after = scored_run(tmp_path / "before"), scored_run(tmp_path / "after", reply=failing(1))
    assert names_of([before]) == ["rag"]
    assert names_of([before, after]) == ["before/rag", "after/rag"]
    with pytest.raises(AspectragError, match="given twice"):
        names_of([before, before])
