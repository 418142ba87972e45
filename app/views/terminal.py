"""Answers and traces in the terminal. Texts of documents and models are shown as they are, never as markup."""

from rich.console import Console, Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from ...errors import redact
from ...programs.program import Result
from ...programs.showing.rows import Row, tree_of
from ...programs.showing.rows import Tree as Rows
from ...programs.trace import Trace
from ...texts import clipped, printable

_STYLES = {"lm": "cyan", "retrieval": "green", "fallback": "yellow", "warning": "yellow", "branch": "blue"}
_CLIP = 80
_PIPE_WIDTH = 110


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


def shown(text: str) -> str:
    """Text as a terminal may have it: without escape sequences, and without keys."""
    return printable(redact(text))


def trace_view(trace: Trace) -> RenderableType:
    """The tree of steps: what was called, with what, what came back, and what it cost."""
    found = tree_of(trace.to_dict())
    tree = Tree(Text.assemble(("Steps", "bold"), ("  " + spent(found), "dim")), guide_style="dim")
    for row in found.rows:
        _grow(tree, row)
    return tree


def spent(tree: Rows) -> str:
    """What a trace took in all."""
    usage = tree.usage
    return (
        f"{usage['lm_calls']} model calls, {usage['prompt_tokens']} + {usage['completion_tokens']} tokens, "
        f"{usage['cached_calls']} from the cache, {tree.seconds:.1f} s"
    )


def _grow(tree: Tree, row: Row) -> None:
    line = head(row)
    if row.kind == "branch" and not row.children:  # there may be ten of them to a question: one line each
        for place, (label, text) in enumerate(row.did):
            line.append(f"  {clip(row.said(label, text))}", "" if label else "dim" if place else "default")
    branch = tree.add(line)
    for label, text in row.did if row.kind in ("module", "retrieval") else ():
        branch.add(_told(row, label, text))
    if row.is_note:
        branch.add(Text(clip(row.gist()), style="yellow"))
    for child in row.children:
        _grow(branch, child)


def head(row: Row) -> Text:
    """The name of a row, with what it took."""
    line = Text.assemble((clip(row.name), style_of(row)), (f"  {row.seconds:.2f} s", "dim"))
    if row.prompt + row.completion and row.model:
        line.append(f", {row.prompt} + {row.completion} tokens", "dim")
    if row.cached and row.model:
        line.append(", cached", "dim")
    if row.error:
        line.append(f"  {clip(row.error)}", "red")
    return line


def style_of(row: Row) -> str:
    """The colour of a row's name; the model's calls have one, whatever stage they are of."""
    return _STYLES["lm"] if row.model else _STYLES.get(row.kind, "bold")


def _told(row: Row, label: str, text: str) -> Text:
    if row.kind == "retrieval":
        return Text.assemble(clip(label), (f" -> {clip(text)}", "dim") if text else "")
    return Text.assemble((f"{clip(label)}: ", "dim"), clip(text))


def clip(text: str) -> str:
    """Text on one line, cut where it is long."""
    return clipped(shown(text[: 4 * _CLIP]), _CLIP)


def console(*, stderr: bool = False, wrap: bool = False) -> Console:
    """A console that prints texts as they are; without ``wrap`` lines are left to the terminal, and pipes, whole."""
    plain = Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=not wrap)
    if wrap and not plain.is_terminal:
        plain.width = _PIPE_WIDTH
    return plain
