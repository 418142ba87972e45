"""The methods by the names that users give them."""

import difflib

from ..errors import AspectragError
from .baselines.direct import Direct
from .baselines.rag import Rag
from .program import Program
from .typed_rag import TypedRag

METHODS: dict[str, type[Program]] = {"typed": TypedRag, "rag": Rag, "direct": Direct}


def method(name: str) -> type[Program]:
    """The program of a method's name.

    Raises:
        AspectragError: There is none; names the nearest.
    """
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(name.lower(), METHODS, n=1, cutoff=0.3)
    raise AspectragError(
        f"there is no method {name!r}"
        + (f": did you mean {near[0]!r}?" if near else "")
        + f" (methods: {', '.join(METHODS)})"
    )
