"""The one exception that users are meant to read, and the guard that keeps secrets out of what they read."""

import base64
import difflib
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

_SECRET_NAME = re.compile(
    r"(^|[_-])(api[_-]?key|(access|secret|private)[_-]?key|token|secret|password|passwd|authorization|credentials?)$",
    re.IGNORECASE,
)
# Shapes of keys that providers echo back in their error messages, whole or shortened; words have no digits in them, and
# what follows "bearer" or "basic" is a key within a header alone. And passwords in addresses.
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|ghp|gho)[-_](?=[\w.-]{0,99}[\d*])[\w*.-]{8,}|\bAIza[\w*-]{20,}"
    r"|(?P<header>\bauthorization[\"']{0,2}\s{0,3}[:=]\s{0,3}[\"']{0,2}(?:(?:bearer|basic)\s{1,3})?)[^\s\"']+"
    r"|(?P<scheme>\bbearer\s{1,3})(?=\S{0,99}\d)\S{16,}"
    r"|(?P<user>://[^\s/:@]{0,99}:)[^\s/@]{1,99}(?=@)",
    re.IGNORECASE,
)
# Environment variables that hold a key although their names do not show it: options name them.
SECRET_VARIABLES: set[str] = set()
_MASK = "***"
_HINTS = (
    *(f"{prefix}{mark}" for prefix in ("sk", "pk", "gsk", "xai", "hf", "ghp", "gho") for mark in "-_"),
    "aiza", "bearer", "authorization",
)  # fmt: skip


class AspectragError(Exception):
    """Something the user can put right: the message says what is wrong and what to do, in one line."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A question that offers the most similar known name, or nothing; how names are cased does not count.

    Example:
        >>> nearest("tempratur", ["temperature", "timeout"])
        ": did you mean 'temperature'?"
    """
    spelled = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.5)
    return f": did you mean {spelled[close[0]]!r}?" if close else ""


@lru_cache(4096)
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
    return masked(text, secrets(environ))


def secrets(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The secrets of the environment, as they are and as headers carry them; for whoever masks many texts at once."""
    found = []
    for name in environ:
        if (name in SECRET_VARIABLES or is_secret_name(name)) and len(value := environ.get(name, "")) >= 8:
            found += [value, base64.b64encode(value.encode("utf-8", "replace")).decode().rstrip("=")]
    return tuple(found)


def without(text: str, known: Iterable[str]) -> str:
    """``text`` with known secrets masked, and nothing else."""
    for secret in known:
        text = text.replace(secret, _MASK)
    return text


def masked(text: str, known: Iterable[str]) -> str:
    """``text`` with known secrets masked, and everything that looks like a key."""
    text = without(text, known)
    low = text.lower()
    # The pattern is slow over long texts, and nearly none of them holds a beginning of what it finds.
    hinted = any(hint in low for hint in _HINTS) or ("://" in low and "@" in low)
    return _SECRET_SHAPE.sub(_hidden, text) if hinted else text


def _hidden(match: re.Match[str]) -> str:
    return (match["header"] or match["scheme"] or match["user"] or "") + _MASK
