"""A swap as a table: names are no markup, and prices are readable however small."""

import io

import pytest
from aspectrag.app.views.swap import swap_view
from aspectrag.app.views.terminal import console
from aspectrag.lms.scripted import scripted_lm
from aspectrag.optimizers.evaluation import records, swap
from aspectrag.optimizers.evaluation.comparison import compare
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from evaluation import EM, questions, replies, retriever

EVIL = ("[red]a[/red]", "[/] \x1b[31mb\u202e :smile: sk-abcdef123456")


def view(out, **options):
    lms = {name: scripted_lm(replies, name=f"[bold]{place}[/bold]") for place, name in enumerate(EVIL)}
    made = swap(
        lambda lm: Rag(AnswerConfig(k=2), retriever()), questions(4), lms, out, method="rag", metrics=[EM],
        progress=False, **options,
    )  # fmt: skip
    to = console(wrap=True)
    to.file = io.StringIO()
    to.print(swap_view(made, compare([each.run for each in made])))
    return to.file.getvalue()


def test_names_are_shown_as_they_are(tmp_path):
    shown = view(
        tmp_path, recipes=["[blue]"], recompile=lambda recipe, program, lm, folder: program
    )  # an optimizer may find nothing better
    assert shown.count("[red]a[/red]") == 2
    assert "[/] [31mb :smile: ***" in shown
    assert shown.count("  recompiled ([blue])") == 4
    assert not {"\x1b", "\u202e"} & set(shown)
    assert "sk-abcdef" not in shown


@pytest.mark.parametrize(
    ("cost", "said"), [(0.0000123, "0.000012"), (0.5, "0.5"), (12.0, "12"), (0.0, "0"), (None, "unknown")]
)
def test_prices_keep_two_digits(tmp_path, monkeypatch, cost, said):
    monkeypatch.setattr(records, "cost_of", lambda usage: cost)
    row = next(line for line in view(tmp_path).splitlines() if line.startswith("[red]a[/red]"))
    assert said in row.split()
