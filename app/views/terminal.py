"""Answers and traces in the terminal. Texts of documents and models are shown as they are, never as markup."""

from collections.abc import Sequence
from typing import Any

import pydantic
from rich.console import Console, Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from ...data.passages import Passage
from ...errors import redact
from ...programs.program import Result
from ...programs.trace import Step, Trace
from ...texts import printable

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
    usage = trace.usage
    seconds = sum(step.seconds for step in trace.steps)
    total = (
        f"{usage['lm_calls']} model calls, {usage['prompt_tokens']} + {usage['completion_tokens']} tokens, "
        f"{usage['cached_calls']} from the cache, {seconds:.1f} s"
    )
    tree = Tree(Text.assemble(("Steps", "bold"), ("  " + total, "dim")), guide_style="dim")
    for step in trace.steps:
        _grow(tree, step)
    return tree


def _grow(tree: Tree, step: Step) -> None:
    if call := _only_call(step):
        # A predictor and its one call are one line; the model's name is the same all the way down.
        _line(tree.add(_head(step, call)), step)
        return
    if step.kind == "branch" and len(step.children) == 1 and (call := _only_call(step.children[0])):
        # So is a branch that is one verdict: there are ten of them to a question.
        outputs = step.children[0].outputs
        if outputs is not None and len(outputs) == 1:
            ((name, value),) = outputs.items()
            title = step.inputs.title if isinstance(step.inputs, Passage) else ""
            tree.add(_head(step, call).append(f"  {name}: {clip(_short(value))}").append(f"  {clip(title)}", "dim"))
            return
    branch = tree.add(_head(step, step))
    if step.kind != "program":
        _line(branch, step)
    for child in step.children:
        _grow(branch, child)


def _only_call(step: Step) -> Step | None:
    """The language-model call of a predictor that made one and nothing else."""
    only = step.children[0] if len(step.children) == 1 else None
    return only if only and step.kind == "module" and only.kind == "lm" else None


def _head(step: Step, call: Step) -> Text:
    head = Text.assemble((step.name, _STYLES.get(call.kind, "bold")), (f"  {step.seconds:.2f} s", "dim"))
    if call.tokens:
        head.append(f", {call.tokens.get('prompt', 0)} + {call.tokens.get('completion', 0)} tokens", "dim")
    if call.cached:
        head.append(", cached", "dim")
    if step.error:
        head.append(f"  {clip(step.error)}", "red")
    return head


def _line(branch: Tree, step: Step) -> None:
    if step.kind == "retrieval" and isinstance(step.inputs, dict):
        queries = step.inputs.get("queries") or [step.inputs.get("query") or _ranking(step.inputs)]
        found = step.outputs if "queries" in step.inputs else [step.outputs]
        for query, passages in zip(queries, found or [[]] * len(queries), strict=False):
            titles = ", ".join(dict.fromkeys(p["title"] or p["id"] for p in passages or []))
            branch.add(Text.assemble(clip(query), (f" -> {clip(titles) or 'nothing'}", "dim")))
    elif step.kind in ("fallback", "warning"):
        branch.add(Text(clip(str(step.outputs)), style="yellow"))
    elif step.kind == "module" and step.outputs is not None:
        for name, value in step.outputs.items():
            branch.add(Text.assemble((f"{name}: ", "dim"), clip(_short(value))))


def _ranking(inputs: dict[str, Any]) -> str:
    return f"{len(inputs.get('pool', ()))} passages, {inputs.get('ranker')}"


def _short(value: object) -> str:
    if isinstance(value, pydantic.BaseModel):
        return ": ".join(str(part) for part in value.model_dump().values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " | ".join(_short(item) for item in value)
    return str(value)


def clip(text: str) -> str:
    """Text on one line, cut where it is long."""
    flat = " ".join(shown(text[: 4 * _CLIP]).split())
    return flat if len(flat) <= _CLIP else flat[: _CLIP - 1] + "…"


def console(*, stderr: bool = False, wrap: bool = False) -> Console:
    """A console that prints texts as they are; without ``wrap`` lines are left to the terminal, and pipes, whole."""
    plain = Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=not wrap)
    if wrap and not plain.is_terminal:
        plain.width = _PIPE_WIDTH
    return plain
