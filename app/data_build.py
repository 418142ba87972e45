"""``aspectrag data build``: benchmarks and training sets made from other data."""

import typer

from .build_compound import compound
from .build_nfqa import nfqa
from .build_revelator import revelator

app = typer.Typer(
    no_args_is_help=True,
    help="Benchmarks and training sets made from other data: compound questions, non-factoid ones with graded answers, "
    "and what HANRAG's control stages learn from. Each makes a folder; the same arguments and seed give the same "
    "files. What a model was asked for is kept in its folder 'work', so that a build that was stopped goes on.",
    epilog="For example, without any model: aspectrag data build compound --from-questions nq.jsonl --out compound",
)
for command in (compound, nfqa, revelator):
    app.command()(command)
