import pytest
from aspectrag.programs.showing.wording import changes, shortened, told


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""), ("", "new"), ("gone", ""), ("one\ntwo\nthree", "one\n2\nthree\n"), ("a b c", "a  b\tc"),
        ("x " * 1000, "y " * 1000), ("line\n" * 5000, "line\n" * 4000), ("团队 合作", "团队 工作"),
    ],
)  # fmt: skip
def test_the_pieces_give_both_texts_back(before, after):
    pieces = changes(before, after)
    assert "".join(text for kind, text in pieces if kind != "new") == before
    assert "".join(text for kind, text in pieces if kind != "gone") == after


def test_a_line_that_was_reworded_differs_by_words_and_another_one_as_a_whole():
    assert changes("keep\nIt is very long.\n", "keep\nIt was very long.\n") == [
        ("same", "keep\nIt"), ("gone", " is"), ("new", " was"), ("same", " very long.\n"),
    ]  # fmt: skip
    assert changes("The Danube is a river.", "Coal is cheap and dirty, they say.") == [
        ("gone", "The Danube is a river."), ("new", "Coal is cheap and dirty, they say."),
    ]  # fmt: skip


def test_a_long_stretch_that_both_share_is_cut_and_what_differs_never_is():
    same, new = "same " * 500, "new " * 500
    found = shortened([("same", same), ("new", new), ("same", same)])
    assert [text for kind, text in found if kind == "new"] == [new]
    assert found[0][1].startswith(" … ")
    assert found[2][1].endswith(" … ")


def test_values_are_told_one_thing_a_line():
    assert told(None) == "nothing"
    assert told({"a": [], "b": {"c": "x\ny"}, "d": True}) == "a: nothing\nb:\n  c:\n    x\n    y\nd: True"
    assert told([["x"], "y"]) == "- - x\n- y"
