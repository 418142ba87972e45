"""Tables: what stands in them, for a terminal to print, and as HTML for notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass

from .pages import asset, templates


class Strong(str):
    """A cell that stands out."""

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """What stands in a table; all of it is text.

    Attributes:
        head: The headings.
        rows: The cells; a row without any is a gap.
        title: What it is about; such a table is folded in notebooks.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


def tables_html(name: str, tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Tables as HTML that a notebook shows, light or dark; without a script, and loading nothing.

    Args:
        name: What they are of.
        tables: The tables; those without a row are left out.
        notes: Lines below.

    Example:
        >>> "<td>&lt;b&gt;</td>" in tables_html("a run", [Table(("metric",), (("<b>",),))])
        True
    """
    shown = [table for table in tables if table.rows]
    strong = [[[isinstance(cell, Strong) for cell in row] for row in table.rows] for table in shown]
    template = templates().get_template("tables.html")
    return template.render(style=asset("tables.css"), name=name, tables=zip(shown, strong, strict=True), notes=notes)
