from aspectrag.app.views.terminal import answer_view, console, trace_view
from aspectrag.data.passages import Passage
from aspectrag.programs.program import result
from aspectrag.programs.trace import Step, Trace


def printed(view, capsys):
    console(wrap=True).print(view)
    return capsys.readouterr().out


def test_texts_are_shown_as_they_are_and_never_as_markup(capsys):
    passage = Passage("[red]id[/red]", "[bold]T[/bold] :smile:", "x")
    out = printed(answer_view(result("[blink]So[/blink] [1]", route="rag", passages=[passage], steps=1)), capsys)
    assert "[blink]So[/blink] [1]" in out
    assert "[bold]T[/bold] :smile:" in out
    assert "[red]id[/red]" in out


def test_escape_sequences_lone_surrogates_and_keys_do_not_come_through(capsys):
    passage = Passage("id\x1b[2J", "T\x1b]0;x\x07", "x")
    said = "So\x1b[31m \ud83d sk-abcdefgh12345 [1]"
    out = printed(answer_view(result(said, route="rag", passages=[passage], steps=1)), capsys)
    assert "\x1b" not in out
    assert "abcdefgh" not in out
    step = Step("module", "classify", outputs={"type": said})
    assert "\x1b" not in printed(trace_view(Trace([step])), capsys)


def test_an_answer_without_sources_says_so(capsys):
    out = printed(answer_view(result("So.", route="rag", passages=[Passage("a", "A", "x")], steps=1)), capsys)
    assert "cites none" in out
