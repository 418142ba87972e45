from aspectrag.app.views.terminal import console
from aspectrag.app.views.trace import apart, difference_view, whole_view
from aspectrag.programs.trace import Step, Trace


def printed(view, capsys):
    console(wrap=True).print(view)
    return capsys.readouterr().out


def stage(name, **outputs):
    return Step("module", name, {"question": "Why?"}, outputs, seconds=1.0)


def trace(*steps, answer="So."):
    return Trace([Step("program", "Rag", {"question": "Why?"}, {"answer": answer}, children=list(steps))])


def test_question_and_answer_stand_before_the_tree(capsys):
    assert printed(whole_view(trace(stage("answer", answer="So."))), capsys).splitlines()[:5] == [
        "Why?", "", "So.", "", "Steps  0 model calls, 0 + 0 tokens, 0 from the cache, 0.0 s",
    ]  # fmt: skip
    assert printed(whole_view(Trace([stage("answer")])), capsys).startswith("Steps")


def test_what_differs_is_marked_and_the_rest_is_counted(capsys):
    same = [stage("a", x=1), stage("b", x=1)]
    one = trace(*same, stage("route", route="complex"), stage("hop", x=1))
    other = trace(*same, stage("route", route="compound"), Step("fallback", "merge", outputs="joined"))
    out = printed(difference_view(one.compare(other), ("one.json", "two.json")), capsys)
    assert "A  one.json" in out
    assert "First with another outcome: Rag > route" in out
    assert "2 the same: a, b" in out
    assert "~ route  1.00 s  outputs" in out
    assert "- outputs: route: complex" in out
    assert "+ outputs: route: compound" in out
    assert "- hop  1.00 s  x: 1" in out
    assert "+ merge  joined" in out
    assert "Nothing differs" in printed(difference_view(one.compare(one), ("a", "b")), capsys)


def test_texts_are_shown_as_they_are_and_without_keys(capsys):
    said = "[red]So[/red] \x1b[31m sk-abcdefgh12345"
    one, other = trace(stage(said, **{said: said})), trace(stage(said, **{said: f"{said}!"}), stage(said))
    out = printed(difference_view(one.compare(other), (said, said)), capsys) + printed(whole_view(one), capsys)
    assert "[red]So[/red]" in out
    assert "\x1b" not in out
    assert "abcdefgh" not in out


def test_long_texts_are_shown_where_they_part():
    was, now = apart("a" * 500 + " so", "a" * 500 + " not")
    assert was.endswith("a so")
    assert now.endswith("a not")
    assert was.startswith("…a")
    assert apart("same", "same and more") == ("same", "same and more")
