"""Shipped compiled programs: found by method and language model, and used stage by stage."""

import re

import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs import compiled
from aspectrag.programs.compiled import adopt_shipped, folder_of, shipped
from aspectrag.programs.han_rag import HanRag
from aspectrag.programs.registry import METHODS, class_of
from fakes import ListRetriever
from hypothesis import given
from hypothesis import strategies as st
from tuned import save_tuned

MAIN, OTHER = "scripted/main", "scripted/other"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "ROOT", tmp_path)
    return tmp_path


def ship(root, *stages, lm=MAIN, **more):
    return save_tuned(root / more.get("method", "han") / folder_of(lm), *stages, lm=lm, **more)


@given(st.lists(st.text(), min_size=2, max_size=8, unique=True))
def test_folders_are_safe_and_differ(models):
    names = [folder_of(model) for model in models]
    assert len({name.lower() for name in names}) == len(models)  # also where case does not count
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*-[0-9a-f]{12}", name)
        assert len(name) < 80


def test_folders_can_be_read():
    assert folder_of("openai/gpt-4o-mini").startswith("openai-gpt-4o-mini-")
    assert folder_of("openai/GPT-4o").lower() != folder_of("openai/gpt-4o")
    assert folder_of("").startswith("lm-")
    assert folder_of("../../../etc").startswith("etc-")
    assert folder_of("con.x/y").startswith("con-x-y-")


def test_what_ships_is_found_by_method_and_language_model(root):
    folder = ship(root, "route")
    assert shipped("han", MAIN) == folder
    assert shipped("han", OTHER) is None
    assert shipped("rag", MAIN) is None
    (folder / "manifest.json").unlink()
    assert shipped("han", MAIN) is None


def test_every_stage_gets_what_was_tuned_for_the_model_it_runs_on(root):
    ship(root, "route", "refine")
    ship(root, "refine", "decompose", lm=OTHER)
    program = HanRag(None, ListRetriever())
    main, other = scripted_lm({}, name="main"), scripted_lm({}, name="other")
    assert adopt_shipped(program, "han", main, {"refine": other, "judge": other}) == {
        MAIN: ["route"],
        OTHER: ["refine"],
    }
    assert program.decompose.demos == []
    assert {stage: told["lm"] for stage, told in program.tuning["stages"].items()} == {"route": MAIN, "refine": OTHER}
    assert adopt_shipped(HanRag(None, ListRetriever()), "han", main) == {MAIN: ["route", "refine"]}
    assert adopt_shipped(HanRag(None, ListRetriever()), "han", main, dict.fromkeys(HanRag.stages(), None)) == {}


def test_what_ships_damaged_is_no_secret(root):
    folder = ship(root, "route")
    (folder / "state.json").write_text("{")
    with pytest.raises(AspectragError, match=re.escape(str(folder))):
        adopt_shipped(HanRag(None, ListRetriever()), "han", scripted_lm({}, name="main"))


def test_all_that_ships_fits_its_method():
    for manifest in compiled.ROOT.glob("*/*/manifest.json"):
        folder = manifest.parent
        program = class_of(folder).inspect(folder)
        assert METHODS[folder.parent.name] is type(program)
        assert folder.name in {folder_of(str(told["lm"])) for told in program.tuning["stages"].values()}
        fresh = type(program)(program.config, ListRetriever())
        assert sorted(fresh.adopt(folder)) == sorted(program.tuning["stages"]), "a signature was changed since"
