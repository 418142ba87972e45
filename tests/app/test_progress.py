import io

import dspy
from aspectrag.app import progress
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.typed_rag import TypedRag
from fakes import ListRetriever, by_fields
from rich.console import Console


def test_the_stage_at_work_is_named(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(progress, "console", lambda stderr: Console(file=shown, force_terminal=True))
    program = TypedRag(None, ListRetriever())
    with dspy.context(lm=scripted_lm(by_fields(type="REASON"), latency=0.2)), progress.stages(program):
        program(question="Why Kresy?")
    for stage in ("classify", "reason queries", "answer", "aggregate"):
        assert stage in shown.getvalue()


def test_nothing_is_shown_where_nobody_looks(capsys):
    program = TypedRag(None, ListRetriever())
    with dspy.context(lm=scripted_lm(by_fields())), progress.stages(program), progress.waiting("x"):
        program(question="Why Kresy?")
    assert capsys.readouterr().err == ""
