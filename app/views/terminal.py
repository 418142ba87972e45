"""Answers in the terminal, and what all views there share; texts are shown as they are, never as markup."""

from rich.console import Console, Group, RenderableType
from rich.text import Text

from ...programs.program import Result
from ...programs.showing.lines import clip, shown
from ...programs.showing.tree import trace_view

__all__ = ["answer_view", "clip", "console", "shown", "trace_view"]

_PIPE_WIDTH, _NARROWEST = 110, 40


def answer_view(result: Result, *, streamed: bool = False) -> RenderableType:
    """The answer, its sources, what the question was held to be, and the fallbacks.

    Args:
        result: What a program returned.
        streamed: The answer was printed while it came in, so it is left out here.
    """
    parts: list[RenderableType] = [] if streamed else [Text(shown(result.answer) or "(no answer)"), Text()]
    if result.citations:
        parts.append(Text("Sources", style="bold"))
        for citation in result.citations:
            line = Text(f"  [{citation.number}] ", style="green")
            parts.append(line.append(shown(citation.title or citation.passage_id), "default").append(
                "  " + shown(citation.passage_id), "dim"))  # fmt: skip
    elif result.passages:
        parts.append(Text("The answer cites none of its passages.", style="dim"))
    parts.extend(Text(shown(f"! {fallback.stage}: {fallback.reason}"), style="yellow") for fallback in result.fallbacks)
    return Group(*parts, Text())


def console(*, stderr: bool = False, wrap: bool = False) -> Console:
    """A console that prints texts as they are; without ``wrap`` lines are left to the terminal, and pipes, whole."""
    plain = Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=not wrap)
    if wrap:  # where there is no room left, a tree would lose its inner lines
        plain.width = max(plain.width, _NARROWEST) if plain.is_terminal else _PIPE_WIDTH
    return plain
