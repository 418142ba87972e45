"""What differs between two traces, as HTML: in a notebook, or a page of its own."""

import uuid

from jinja2 import Environment
from markupsafe import Markup

from .difference import Difference, Pair
from .pages import templates
from .traces import bar, embedded, page
from .wording import changes, shortened, told


def difference_html(difference: Difference) -> Markup:
    """What differs, for a notebook; see :func:`.traces.trace_html` for how it behaves there."""
    return embedded(_view(difference, templates(), f"d{uuid.uuid4().hex[:10]}", ("A", "B")))


def difference_page(difference: Difference, names: tuple[str, str]) -> str:
    """What differs, as an HTML page that stands alone.

    Args:
        difference: As :func:`.difference.compare` finds it.
        names: What the traces are called.
    """
    return page(_view(difference, templates(), "d", names), " and ".join(names))


def _view(difference: Difference, environment: Environment, id: str, names: tuple[str, str]) -> Markup:
    length = max(difference.before.length, difference.after.length)
    html = environment.get_template("difference.html").render(
        id=id,
        difference=difference,
        sides=list(zip("AB", names, (difference.before, difference.after), strict=True)),
        first=difference.first,
        cost=cost,
        reworded=lambda was, now: shortened(changes(told(was), told(now))),
        length=length,
        bars=lambda pair: [bar(row, length) if row else None for row in (pair.before, pair.after)],
    )
    return Markup(html)


def cost(pair: Pair) -> str:
    """Tokens and seconds of a step, in A and in B.

    Example:
        >>> from .rows import Row
        >>> cost(Pair(Row("lm", "m", seconds=1, prompt=30, completion=2), Row("lm", "m", seconds=2, prompt=30)))
        '30 + 2 → 30 + 0 tokens, 1.00 → 2.00 s'
    """
    rows = [row for row in (pair.before, pair.after) if row]
    tokens = [f"{row.prompt} + {row.completion}" for row in rows]
    seconds = [f"{row.seconds:.2f}" for row in rows]
    spent = [f"{_arrow(tokens)} tokens"] if any(row.prompt or row.completion for row in rows) else []
    return ", ".join([*spent, f"{_arrow(seconds)} s"])


def _arrow(values: list[str]) -> str:
    return " → ".join(dict.fromkeys(values)) if len(set(values)) > 1 else values[0]
