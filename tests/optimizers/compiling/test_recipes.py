"""Recipes: those of the package, and what is refused."""

import re
import shutil
from contextlib import nullcontext
from typing import Any

import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.compiling import recipes as module
from aspectrag.optimizers.compiling.materials import Materials
from aspectrag.optimizers.compiling.recipes import compile_recipe, output_of, read_recipe, recipe, recipes
from aspectrag.optimizers.compiling.teleprompters import OPTIMIZERS, Size, optimizer
from aspectrag.programs.registry import METHODS
from learning import LABEL, calls_of, examples, model, program

GOOD = """
about = "a"
target = "han.route"
metric = "label"
optimizer = "labeled"
[data]
stage = "router"
sets = ["nq"]
"""


def test_every_role_has_a_recipe():
    targets = {each.target for each in recipes().values()}
    assert targets >= {
        "typed.classify", "typed.extract_comparison", "typed.extract_experience", "typed.reason_queries",
        "typed.instruction_queries", "typed.plan_debate", "typed.aggregate", "typed.mediate", "han.route",
        "han.decompose", "han.refine", "han.judge_relevance", "han.judge_ending", "rich.explore", "rich.rank",
        "rich.ranker", "rich.write", "rag.answer", "typed", "han", "rich",
    }  # fmt: skip


@pytest.mark.parametrize("name", list(recipes()))
def test_recipes_can_be_cooked(name):
    each = recipe(name)
    assert each.about
    assert each.method in METHODS
    METHODS[each.method].config_class(**each.config)
    train, val, _ = each.size("small")
    assert optimizer(each.optimizer).arguments(each.arguments, "small", Size(train, val, 1))
    inputs, output = output_of(each)
    assert inputs
    assert output


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_budgets_are_estimated_and_grow(name):
    each, size = OPTIMIZERS[name], Size(40, 40, 1)
    small, medium = (each.runs(size, each.arguments({}, budget, size)) for budget in ("small", "medium"))
    assert 0 <= small <= medium


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("about", "abuot"), "has 'abuot', which is none of"),
        (('metric = "label"\n', ""), "has no metric"),
        (("han.route", "han.rout"), "han has no stage 'rout'"),
        (("han.route", "hen.route"), "no method 'hen'"),
        (("[data]", "[data"), "is no TOML"),
        (("[data]", "[sizes]\nsmall = [1, 2]\n[data]"), r"sizes.small.2: Field required"),
        (("[data]", "[sizes]\nsmall = [0, 0, 2]\n[data]"), "sizes are"),
        (("[data]", "[sizes]\nsmall = 3\n[data]"), "sizes.small: Input should be a valid tuple"),
        (("[data]", "[config]\ncolour = 3\n[data]"), "its config does not fit han"),
        (('metric = "label"', "metric = 3"), "metric: Input should be a valid string"),
        (('optimizer = "labeled"', 'optimizer = "labeled"\narguments = 3'), "arguments: Input should be a valid dict"),
        (
            ('optimizer = "labeled"', 'optimizer = "labeled"\nthreshold = "high"'),
            "threshold: Input should be a valid num",
        ),
        (("han.route", "han."), "han has no stage ''"),
    ],
)
def test_recipes_that_cannot_be_read(change, message):
    with pytest.raises(AspectragError, match=message):
        read_recipe(GOOD.replace(*change), "mine")


def test_recipe_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text(GOOD)
    assert recipe(str(tmp_path / "mine.toml")).name == "mine"
    with pytest.raises(AspectragError, match="cannot be read"):
        recipe(str(tmp_path / "other.toml"))
    with pytest.raises(AspectragError, match="did you mean 'router'"):
        recipe("routr")


def test_what_was_done_before_is_not_done_again_and_what_was_cut_short_is_ended(tmp_path, monkeypatch):
    sets, lm, out = examples(), model(), tmp_path / "out"
    found = Materials(list(sets.train), list(sets.val), list(sets.test), LABEL)
    monkeypatch.setattr(module, "materials", lambda *_: nullcontext(found))
    options = {"lm": lm, "optimizer": "labeled", "progress": False}

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            compile_recipe("router", program(), out, **options)
    spent = calls_of(lm)
    for _ in range(2):
        done = compile_recipe("router", program(), str(out), **options)
        tuned: Any = done.program
        assert tuned.route.demos
        assert (done.report.recipe, done.report.kept) == ("router", "compiled")
        assert not (out / ".work").exists()
        assert not (out / "compiling.json").exists()
    assert calls_of(lm) == spent
    for change, message in [
        ({"lm": model(name="scripted/other")}, "another lm (scripted/learner, not scripted/other): give"),
        ({"teacher": model(name="scripted/wise")}, "another teacher (none, not scripted/wise)"),
        ({"optimizer": "bootstrap"}, "another optimizer (labeled, not bootstrap)"),
    ]:
        with pytest.raises(AspectragError, match=re.escape(message)):
            compile_recipe("router", program(), out, **{**options, **change})
    with pytest.raises(AspectragError, match=r"another target \(han.route, not han.decompose\)"):
        compile_recipe("decomposer", program(), out, **options)
