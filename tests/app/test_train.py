"""``aspectrag train revelator``, on a tiny base and small sets."""

import re

import pytest
from sets import make_sets
from tiny import tiny_base


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_sets(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_base(tmp_path_factory.mktemp("base"))


def test_a_skill_is_trained_and_told_how_to_be_used(run, store, base, tmp_path):
    given = ["--data", store, "--base", base, "--out", tmp_path, "--skills", "router", "--most", 16, "--epochs", 1]
    code, out, err = run("train", "revelator", *given)
    assert code == 0, err
    assert "--role route=local/" in out
    assert re.search(r"accuracy \d.*, macro-F1 \d.* on \d+ held-out examples", out)
    assert (tmp_path / "router" / "card.json").is_file()
    assert run("train", "revelator", *given)[0] == 0
    code, _, err = run("train", "revelator", *given, "--seed", 5)
    assert code == 1
    assert "holds an adapter of other examples or settings" in err


def test_it_takes_no_longer_than_an_evening(run, store, base, tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr("aspectrag.optimizers.tuning.revelator.train_revelator", lambda *_, **how: given.update(how))
    assert run("train", "revelator", "--data", store, "--base", base, "--out", tmp_path)[0] == 0
    assert given["minutes"] == 85


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--skills", "rooter"], "no skill 'rooter': did you mean 'router'?"),
        (["--data", "none"], "--data: there is no folder none"),
        (["--base", "none/at/all"], "is no local model"),
    ],
)
def test_what_cannot_be_is_one_line(given, message, run, store, tmp_path):
    given = given if "--data" in given else ["--data", store, *given]
    code, _, err = run("train", "revelator", "--out", tmp_path / "out", *given)
    assert code == 1
    assert message in err
    assert err.strip().splitlines()[-1].startswith("aspectrag: ")
    assert not any((tmp_path / "out").glob("*"))
