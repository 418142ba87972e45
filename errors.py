"""The one exception that users are meant to read, and the guard that keeps secrets out of what they read."""

import base64
import os
import re
from collections.abc import Mapping

_SECRET_NAME = re.compile(
    r"(^|[_-])(api[_-]?key|(access|secret|private)[_-]?key|token|secret|password|passwd|authorization|credentials?)$",
    re.IGNORECASE,
)
# Shapes of keys that providers echo back in their error messages, whole or shortened; words have no digits in them.
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|ghp|gho)[-_](?=[\w.-]*[\d*])[\w*.-]{8,}|\bAIza[\w*-]{20,}"
    r"|(?<=Bearer )\S+|(?<=Basic )[\w+/=]{8,}",
    re.IGNORECASE,
)
# Environment variables that hold a key although their names do not show it: options name them.
SECRET_VARIABLES: set[str] = set()
_MASK = "***"


class AspectragError(Exception):
    """Something the user can put right: the message says what is wrong and what to do, in one line."""


def is_secret_name(name: str) -> bool:
    """Whether a field or environment variable of this name holds a secret (``max_tokens`` and the like do not).

    Example:
        >>> is_secret_name("api_key"), is_secret_name("max_tokens")
        (True, False)
    """
    return bool(_SECRET_NAME.search(name))


def redact(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return ``text`` with everything that looks like a key masked, and every secret of the environment too.

    Example:
        >>> redact("Incorrect API key provided: sk-abcdef123456", {})
        'Incorrect API key provided: ***'
    """
    for name, value in environ.items():
        if len(value) >= 8 and (name in SECRET_VARIABLES or is_secret_name(name)):
            # As it is, and as headers carry it.
            for form in (value, base64.b64encode(value.encode("utf-8", "replace")).decode().rstrip("=")):
                text = text.replace(form, _MASK)
    return _SECRET_SHAPE.sub(_MASK, text)
