"""Plots as SVG that stands inside a page: text stays text, nothing carries a style, black is the page's own colour."""

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from markupsafe import Markup

from ....optimizers.evaluation.statistics import Mean
from ..terminal import shown
from .tables import Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart by colour-blind readers, on white and on black. The style sheet has the same.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f")
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_WIDTH = 5.6
_MOST_LETTERS = 26


def quality_and_cost(column: str, names: Sequence[str], quality: Sequence[Mean], tokens: Sequence[Mean]) -> Markup:
    """A point per run: what its answers are worth, against the tokens per question, with 95 % intervals.

    Args:
        column: What was measured.
        names: Of the runs.
        quality: Of each run.
        tokens: Read and written per question, of each run.
    """
    figure = _figure(3.4)
    axes = figure.add_subplot()
    for place, (name, y, x) in enumerate(zip(names, quality, tokens, strict=True)):
        colour = COLOURS[place % len(COLOURS)]
        axes.errorbar(
            x.mean, y.mean, xerr=[[x.mean - x.low], [x.high - x.mean]], yerr=[[y.mean - y.low], [y.high - y.mean]],
            fmt="o", color=colour, capsize=3,
        )  # fmt: skip
        axes.annotate(_label(name), (x.mean, y.mean), (6, 6), textcoords="offset points", color=colour)
    axes.set_xlim(left=0)
    axes.margins(y=0.15)
    axes.set_xlabel("tokens read and written per question")
    axes.set_ylabel(_label(column))
    said = "; ".join(f"{n}: {y} at {x.mean:.0f} tokens" for n, y, x in zip(names, quality, tokens, strict=True))
    return _svg(figure, f"quality-{column}", f"{column} against tokens per question", said)


def bars(lines: Sequence[Line], names: Sequence[str]) -> Markup:
    """A bar per category and run, with its 95 % interval.

    Args:
        lines: Of one column, one per value of every category.
        names: Of the runs.
    """
    column, height = lines[0].column, 0.8 / len(names)
    figure = _figure(0.9 + len(lines) * (0.18 + 0.17 * len(names)))
    axes = figure.add_subplot()
    for place, _ in enumerate(names):
        rows = [(y, mean) for y, line in enumerate(lines) if (mean := line.means[place])]
        axes.barh(
            [y + (place - (len(names) - 1) / 2) * height for y, _ in rows],
            [mean.mean for _, mean in rows],
            height * 0.9,
            xerr=[[mean.mean - mean.low for _, mean in rows], [mean.high - mean.mean for _, mean in rows]],
            color=COLOURS[place % len(COLOURS)],
            error_kw={"elinewidth": 1, "capsize": 2},
        )
    axes.set_yticks(range(len(lines)), [_label(f"{line.category} {line.value}") for line in lines])
    axes.invert_yaxis()
    axes.set_xlabel(_label(column))
    said = "; ".join(
        f"{line.category} {line.value}, {name}: {mean}"
        for line in lines
        for name, mean in zip(names, line.means, strict=True)
        if mean
    )
    return _svg(figure, f"bars-{column}", f"{column} by category", said)


def _figure(height: float) -> "Figure":
    # It takes a second to import, and is of no use to other commands.
    from matplotlib.figure import Figure

    return Figure(figsize=(_WIDTH, height), layout="constrained")


def _label(text: str) -> str:
    flat = "".join(letter for letter in " ".join(shown(text).split()) if letter.isprintable())
    cut = flat if len(flat) <= _MOST_LETTERS else flat[: _MOST_LETTERS - 1] + "…"
    return cut.replace("$", r"\$")  # else what is between two of them is set as a formula


def _svg(figure: "Figure", name: str, title: str, said: str) -> Markup:
    """The figure as an element of the page; ``title`` and ``said`` are for those who cannot see it."""
    from matplotlib import rc_context

    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    out = io.StringIO()
    # The salt makes its ids, which are those of a page with many figures, the same every time.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the measuring font has not: the reader's font has them
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(out, format="svg", transparent=True, metadata=metadata)
    return _inline(out.getvalue(), title, said)


def _inline(drawn: str, title: str, said: str) -> Markup:
    """Turn styles into attributes, which a strict Content-Security-Policy allows, and black into ``currentColor``."""
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(drawn)
    for parent in root.iter():
        for child in [each for each in parent if each.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style")]:
            parent.remove(child)
        for declaration in filter(None, parent.attrib.pop("style", "").split(";")):
            name, _, value = declaration.partition(":")
            parent.set(name.strip(), value.strip())
        if parent.tag == f"{{{_SVG}}}g":
            parent.attrib.pop("id", None)
        _adapt(parent)
    for tag, text in (("desc", said), ("title", title)):
        element = ET.Element(f"{{{_SVG}}}{tag}")
        element.text = shown(text)
        root.insert(0, element)
    root.set("role", "img")
    return Markup(ET.tostring(root, encoding="unicode"))


def _adapt(element: ET.Element) -> None:
    for name in ("fill", "stroke"):
        if element.get(name) in ("#000000", "black"):
            element.set(name, "currentColor")
    if element.tag == f"{{{_SVG}}}text":
        element.attrib.pop("font-family", None)  # the page has its own
        element.attrib.setdefault("fill", "currentColor")
