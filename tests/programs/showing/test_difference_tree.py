import io

from aspectrag.programs.showing.difference_tree import apart, difference_view
from aspectrag.programs.trace import Step, Trace
from rich.console import Console


def printed(view):
    console = Console(width=110, file=io.StringIO(), force_terminal=False)
    console.print(view)
    return console.file.getvalue()


def stage(name, **outputs):
    return Step("module", name, {"question": "Why?"}, outputs, seconds=1.0)


def trace(*steps, answer="So."):
    return Trace([Step("program", "Rag", {"question": "Why?"}, {"answer": answer}, children=list(steps))])


def test_what_differs_is_marked_and_the_rest_is_counted():
    same = [stage("a", x=1), stage("b", x=1)]
    one = trace(*same, stage("route", route="complex"), stage("hop", x=1))
    other = trace(*same, stage("route", route="compound"), Step("fallback", "merge", outputs="joined"))
    out = printed(difference_view(one.compare(other), ("one.json", "two.json")))
    assert "A  one.json" in out
    assert "First with another outcome: Rag > route" in out
    assert "2 the same: a, b" in out
    assert "~ route  1.00 s  outputs" in out
    assert "- outputs: route: complex" in out
    assert "+ outputs: route: compound" in out
    assert "- hop  1.00 s  x: 1" in out
    assert "+ merge  joined" in out
    assert "Nothing differs" in printed(difference_view(one.compare(one), ("a", "b")))


def test_texts_are_shown_as_they_are_and_without_keys():
    said = "[red]So[/red] \x1b[31m sk-abcdefgh12345"
    one, other = trace(stage(said, **{said: said})), trace(stage(said, **{said: f"{said}!"}), stage(said))
    out = printed(difference_view(one.compare(other), (said, said)))
    assert "[red]So[/red]" in out
    assert "\x1b" not in out
    assert "abcdefgh" not in out


def test_long_texts_are_shown_where_they_part():
    was, now = apart("a" * 500 + " so", "a" * 500 + " not")
    assert was.endswith("a so")
    assert now.endswith("a not")
    assert was.startswith("…a")
    assert apart("same", "same and more") == ("same", "same and more")


def test_a_difference_shows_itself():
    one, other = trace(stage("[b]route[/b]", route="a")), trace(stage("[b]route[/b]", route="b"))
    found = one.compare(other)
    assert printed(found) == printed(difference_view(found, ("A", "B")))
    assert repr(found) == str(found) == "Difference(2 of 2 steps, first: Rag > [b]route[/b])"
    assert repr(one.compare(one)) == "Difference(0 of 2 steps)"
