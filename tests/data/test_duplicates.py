import pytest
from aspectrag.data.duplicates import Register, additions, fingerprint
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError

PASSAGES = [Passage(str(i), "T", f"text {i}") for i in range(12)]


def test_adding_what_is_there_says_so():
    result = additions(PASSAGES, present=PASSAGES)
    assert result.new == ()
    assert result.summary() == "0 new, 12 already present"


def test_new_present_and_changed_are_told_apart():
    incoming = [PASSAGES[0], Passage("1", "T", "changed"), Passage("new", "", "n"), Passage("new", "", "n")]
    result = additions(incoming, present=PASSAGES)
    assert [passage.id for passage in result.new] == ["new"]
    assert (result.present, result.changed) == (2, ("1",))
    assert result.summary() == "1 new, 2 already present, 1 with the id of a passage of another text"


def test_same_text_under_another_id():
    twin = Passage("twin", "T", "text 0")
    assert additions([twin], PASSAGES).new == (twin,)
    assert additions([twin], PASSAGES, "distinct").summary() == "0 new, 1 already present"


def test_error_policy():
    with pytest.raises(AspectragError, match="duplicate id '0'"):
        additions(PASSAGES, PASSAGES, "error")
    with pytest.raises(AspectragError, match="unknown"):
        additions(PASSAGES, PASSAGES, "nonsense")  # pyright: ignore[reportArgumentType]


def test_score_and_meta_do_not_count():
    register = Register()
    assert register.judge(Passage("1", "a", "b", 0.5, {"x": 1})) == "new"
    assert register.judge(Passage("1", "a", "b")) == "repeated"


def test_fingerprint_takes_any_text():
    assert len({fingerprint(text) for text in ("", "a", "\ud800", "😀", "\x00")}) == 5
