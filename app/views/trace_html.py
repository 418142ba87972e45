"""A trace as collapsible HTML: the same tree as in the terminal, with nothing left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from ...programs.trace import Trace
from .pages import asset, templates

_CLIP = 120


def trace_html(trace: Trace, *, style: bool = True) -> Markup:
    """The tree of steps, folded up: name, kind, time, tokens, and inside everything that went in and came out.

    It needs no script, loads nothing, and stands in a notebook as well as in a page.

    Args:
        trace: The trace.
        style: Whether the style sheet comes with it; one is enough for many traces on a page.

    Example:
        >>> from aspectrag.programs.trace import Step
        >>> "&lt;b&gt;" in trace_html(Trace([Step("module", "<b>")]))
        True
    """
    return record_html(trace.to_dict(), templates(), style=style)


def record_html(record: Mapping[str, Any], environment: Environment, *, style: bool = False) -> Markup:
    """The same from the JSON form of a trace, as it lies in the folder of a run.

    Args:
        record: What :meth:`.Trace.to_dict` gives.
        environment: See :func:`.pages.templates`.
        style: Whether the style sheet comes with it.
    """
    html = environment.get_template("trace.html").render(
        steps=record["steps"],
        usage=record["usage"],
        seconds=sum(step["seconds"] for step in record["steps"]),
        gist=gist,
        spent=spent,
        style=asset("trace.css") if style else None,
    )
    return Markup(html)


def spent(step: Mapping[str, Any]) -> dict[str, Any]:
    """What the language-model calls of a step, itself or inside it, took together.

    Returns:
        ``prompt`` and ``completion`` tokens, and ``cached``: whether there are calls and all were cached ones.
    """
    own = step["tokens"] or {}
    inside = [spent(child) for child in step["children"]]
    flags = [flag for flag in (step["cached"], *(each["cached"] for each in inside)) if flag is not None]
    return {
        "prompt": own.get("prompt", 0) + sum(each["prompt"] for each in inside),
        "completion": own.get("completion", 0) + sum(each["completion"] for each in inside),
        "cached": all(flags) if flags else None,
    }


def gist(step: Mapping[str, Any]) -> str:
    """What a step did, in so few words that it fits on its line; may be empty.

    Example:
        >>> gist({"kind": "module", "inputs": {}, "outputs": {"type": "REASON", "aspects": ["cost", "risk"]}})
        'type: REASON; aspects: cost | risk'
    """
    inputs, outputs = step["inputs"], step["outputs"]
    if step["kind"] == "retrieval" and isinstance(inputs, Mapping):
        return _clip(_short(inputs.get("queries") or inputs.get("query") or ""))
    if step["kind"] == "branch" and isinstance(inputs, Mapping):
        return _clip(_short(inputs.get("title") or inputs.get("question") or ""))
    if step["kind"] == "module" and isinstance(outputs, Mapping):
        return _clip("; ".join(f"{name}: {_short(value)}" for name, value in outputs.items() if value))
    if step["kind"] in ("fallback", "warning"):
        return _short(outputs)
    return ""


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return ": ".join(_short(part) for part in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " | ".join(_short(part) for part in value)
    return str(value)


def _clip(text: str) -> str:
    flat = " ".join(text[: 4 * _CLIP].split())
    return flat if len(flat) <= _CLIP else flat[: _CLIP - 1] + "…"
