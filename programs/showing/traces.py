"""Results and traces as HTML that shows what matters and unfolds to everything: one view for all places."""

import uuid
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from ... import __version__
from ..trace import Trace
from .answers import linked, question_of, result_of
from .known import Known
from .pages import asset, digest, templates
from .rows import Row, Tree, tree_of


def trace_html(trace: Trace, result: Mapping[str, Any] | None = None) -> Markup:
    """A trace for a notebook: the answer with its passages, then the tree of steps over a time axis.

    It loads nothing and styles nothing around it; several stand on a page without getting into each other's way. Its
    script finds steps by words; without it all else works.

    Args:
        trace: The trace.
        result: The fields of the result, where the trace does not hold it.

    Example:
        >>> from aspectrag.programs.trace import Step
        >>> "&lt;b&gt;" in trace_html(Trace([Step("module", "<b>")]))
        True
    """
    view = record_html(trace.to_dict(), templates(), id=f"a{uuid.uuid4().hex[:10]}", answered=True, result=result)
    return embedded(view)


def record_html(
    record: Mapping[str, Any],
    environment: Environment,
    *,
    id: str,
    answered: bool = False,
    result: Mapping[str, Any] | None = None,
    known: Known | None = None,
) -> Markup:
    """The same from the JSON form of a trace, without style sheet and script: one of each is enough for a page.

    Args:
        record: What :meth:`.Trace.to_dict` gives.
        environment: See :func:`.pages.templates`.
        id: What the ids of its elements begin with: no other view on the page may have it.
        answered: Whether question and answer come first.
        result: The fields of the result, where the trace does not hold it.
        known: What is known of the right answer.
    """
    tree = tree_of(record)
    program, own = _program(tree)
    result = result or own
    if answered and program and own:
        program.parts.pop("outputs")  # they are what comes first
    html = environment.get_template("trace.html").render(
        id=id,
        tree=tree,
        question=question_of(program) if answered else None,
        result=result if answered else None,
        answer=linked(result) if answered and result else (),
        known=known,
        lost=tree.row_of(known.place) if known and known.place is not None else None,
        troubles=[row for row in tree.walk() if row.is_trouble],
        bar=lambda row: bar(row, tree.length),
    )
    return Markup(html)


def answered(trace: Trace) -> tuple[str | None, str | None]:
    """Question and answer of the one program that was called; ``None`` for what the trace does not hold."""
    program, result = _program(tree_of(trace.to_dict()))
    return question_of(program), result["answer"] if result else None


def trace_page(trace: Trace, title: str, known: Known | None = None) -> str:
    """A trace as an HTML page that stands alone: a single file that opens from disk and loads nothing.

    Args:
        trace: The trace.
        title: Of the page.
        known: What is known of the right answer.
    """
    return page(record_html(trace.to_dict(), templates(), id="t", answered=True, known=known), title)


def embedded(view: Markup) -> Markup:
    """A view as a notebook takes it: with its own style sheet and script."""
    return Markup("<style>{}</style>\n{}\n<script>{}</script>").format(asset("trace.css"), view, asset("trace.js"))


def page(view: Markup, title: str) -> str:
    """A view as a page that runs nothing but its own script.

    Args:
        view: As :func:`record_html` makes it.
        title: Of the page.
    """
    style, script = asset("page.css") + asset("trace.css"), asset("trace.js")
    return (
        templates()
        .get_template("page.html")
        .render(
            title=title, view=view, version=__version__, style=style, script=script,
            style_hash=digest(style), script_hash=digest(script),
        )
    )  # fmt: skip


def bar(row: Row, length: float) -> tuple[float, float] | None:
    """Where the bar of a row begins on the time axis, and how long it is, in thousandths; never too short to see."""
    if row.began is None or row.is_note or length <= 0:
        return None
    wide = min(max(6.0, 1000 * row.seconds / length), 1000.0)
    return round(min(1000 * row.began / length, 1000 - wide), 1), round(wide, 1)


def _program(tree: Tree) -> tuple[Row | None, Mapping[str, Any] | None]:
    """The one program that was called, and its result."""
    found = [row for row in tree.rows if row.kind == "program"]
    if len(found) != 1:
        return None, None
    return found[0], result_of(found[0])
