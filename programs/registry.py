"""The methods by the names that users give them."""

from pathlib import Path

from ..errors import AspectragError, nearest
from .baselines.adaptive import Adaptive
from .baselines.adaptive_retrieval import AdaptiveRetrieval
from .baselines.direct import Direct
from .baselines.ircot import Ircot
from .baselines.rag import Rag
from .baselines.self_rag import SelfRag
from .han_rag import HanRag
from .program import Program
from .rich_rag import RichRag
from .saved import read_manifest
from .typed_rag import TypedRag

METHODS: dict[str, type[Program]] = {
    "typed": TypedRag,
    "rich": RichRag,
    "han": HanRag,
    "rag": Rag,
    "direct": Direct,
    "ircot": Ircot,
    "adaptive": Adaptive,
    "self-rag": SelfRag,
    "adaptive-retrieval": AdaptiveRetrieval,
}


def method(name: str) -> type[Program]:
    """The program of a method's name.

    Raises:
        AspectragError: There is none; names the nearest.

    Example:
        >>> method("typed").__name__
        'TypedRag'
    """
    if name in METHODS:
        return METHODS[name]
    raise AspectragError(f"there is no method {name!r}{nearest(name, METHODS)} (methods: {', '.join(METHODS)})")


def class_of(folder: str | Path) -> type[Program]:
    """The class of a saved program, which loads it.

    Raises:
        AspectragError: The folder holds none, or one of a class that is no method.
    """
    name = read_manifest(folder).get("class")
    found = next((cls for cls in METHODS.values() if cls.__name__ == name), None)
    if found is None:
        raise AspectragError(f"{folder} holds a program of the class {name!r}, which is no method")
    return found
