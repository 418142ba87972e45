"""Docstrings of this package say ``Example:``; what shows them as code is ``Examples:``."""

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Calls the section by the name that griffe knows."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rename it."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
