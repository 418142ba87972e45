"""A trace as a tree in the terminal. Texts of documents and models are shown as they are, never as markup."""

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from ..trace import Trace
from .lines import clip, shown
from .rows import Row, tree_of
from .rows import Tree as Rows
from .traces import answered

_STYLES = {"lm": "cyan", "retrieval": "green", "fallback": "yellow", "warning": "yellow", "branch": "blue"}


def whole_view(trace: Trace) -> RenderableType:
    """Question and answer, then the tree of steps."""
    question, answer = answered(trace)
    parts: list[RenderableType] = [Text(shown(question), "bold"), Text()] if question else []
    parts += [Text(shown(answer) or "(no answer)"), Text()] if answer is not None else []
    return Group(*parts, trace_view(trace))


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
    has_lines = row.kind in ("module", "retrieval") or (row.kind == "branch" and row.children)
    for label, text in row.did if has_lines else ():
        branch.add(_told(row, label, text))
    if row.is_note:
        branch.add(Text(clip(row.gist()), style="yellow"))
    for child in row.children:
        _grow(branch, child)


def head(row: Row) -> Text:
    """The name of a row, with what it took."""
    if row.is_note:
        return Text(f"! {clip(row.name)} ({row.kind})", style_of(row))
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
    return Text.assemble((f"{clip(label)}: " if label else "", "dim"), clip(text))
