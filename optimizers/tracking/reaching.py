"""What MLflow and the libraries below it raise, in one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import AspectragError, redact
from ...texts import clipped


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
        reason = clipped(_unsecret(str(error)) or type(error).__name__, 300)
        raise AspectragError(
            f"MLflow does not take it at {_unsecret(uri)} ({reason}): start a server ('mlflow server') and give its "
            "address, such as http://localhost:5000, or a file, such as sqlite:///mlflow.db"
        ) from None


def _unsecret(text: str) -> str:
    """The text without keys, and without the user and password of an address."""
    return re.sub(r"//[^/@\s]*@", "//***@", redact(text))
