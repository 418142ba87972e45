"""The libraries that local models need beside those that are always there."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ...errors import AspectragError

_LIBRARIES = ("accelerate", "gguf", "llguidance", "peft")


def installed() -> bool:
    """Whether the libraries of the extra ``train`` are there."""
    return all(find_spec(name) for name in _LIBRARIES)


def needed(name: str) -> Any:
    """The module of that name.

    Raises:
        AspectragError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        library = name.partition(".")[0]
        raise AspectragError(f"the local models need {library}: pip install 'aspectrag[train]' ({error})") from error


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep away the bars of transformers and the warnings of peft: what does not fit is refused in our words."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if shown:
            logging.enable_progress_bar()
