"""What the docstrings of this package say, as the pages can show it: examples, references and formulas."""

import re
from textwrap import indent
from typing import Any

import griffe

_FORMULA = re.compile(r"^( *)\.\. math:: (.+)$", re.MULTILINE)
_REFERENCE = re.compile(r":(?:attr|class|data|func|meth|mod):`[~.]*([^`]+)`")


class Examples(griffe.Extension):
    """Calls the section by the name that griffe knows, and turns what is written for Sphinx into Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite its docstring."""
        if obj.docstring:
            obj.docstring.value = shown(obj.docstring.value)


def shown(text: str) -> str:
    """A docstring as Markdown."""
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.MULTILINE)
    text = _FORMULA.sub(lambda found: indent(f"```tex\n{found[2]}\n```", found[1]), text)
    text = _REFERENCE.sub(r"`\1`", text)
    return text.replace(":math:`", "`")
