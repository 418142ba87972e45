import pytest
from aspectrag.data.duplicates import Register, check_policy, fingerprint, is_kept
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError


def test_passages_are_judged_by_id_and_text():
    register = Register()
    assert register.judge(Passage("1", "T", "text")) == "new"
    assert register.judge(Passage("1", "T", "changed")) == "clash"
    assert register.judge(Passage("2", "T", "text")) == "twin"


def test_score_and_meta_do_not_count():
    register = Register()
    assert register.judge(Passage("1", "a", "b", 0.5, {"x": 1})) == "new"
    assert register.judge(Passage("1", "a", "b")) == "repeated"


def test_twins_stay_by_default_and_go_where_texts_are_to_be_distinct():
    assert is_kept("twin", "first", "1")
    assert not is_kept("twin", "distinct", "1")


def test_error_policy_and_unknown_policy():
    with pytest.raises(AspectragError, match="duplicate id '0'"):
        is_kept("repeated", "error", "0")
    with pytest.raises(AspectragError, match="unknown"):
        check_policy("nonsense")


def test_fingerprint_takes_any_text():
    assert len({fingerprint(text) for text in ("", "a", "\ud800", "😀", "\x00")}) == 5
