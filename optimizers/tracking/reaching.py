"""What MLflow and the libraries below it raise, in one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import AspectragError, redact


@contextmanager
def reached(uri: str) -> Iterator[None]:
    """Turn whatever MLflow and the libraries below it raise into one line.

    Raises:
        AspectragError: Something was raised.
    """
    try:
        yield
    except AspectragError:
        raise
    except Exception as error:  # of MLflow, requests, SQLAlchemy, or of the disk
        reason = _both_ends(_unsecret(str(error)) or type(error).__name__)
        raise AspectragError(
            f"MLflow does not take it at {_unsecret(uri)} ({reason}): start a server ('mlflow server') and give its "
            "address, such as http://localhost:5000, or a file, such as sqlite:///mlflow.db"
        ) from None


def _both_ends(text: str) -> str:
    """The text in one line, without its middle where it is long: what was tried comes first, and why not at the end."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:120]} … {line[-170:]}"


def _unsecret(text: str) -> str:
    """The text without keys, and without the user and password of an address."""
    return re.sub(r"//[^/@\s]*@", "//***@", redact(text))
