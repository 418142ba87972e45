"""OpenAI-compatible servers, each under a name of its own.

DSPy's cache knows a language model by its model string and ignores the address, so two servers with the same model
would answer for each other. Each address therefore becomes a provider of its own, and its name part of the string.
"""

import hashlib
import os
import re
from urllib.parse import urlsplit

from dspy.lm15 import (
    AccessPolicy,
    ModelSupport,
    OpenAIChatCompat,
    ProviderDefinition,
    register_provider,
)

from ..errors import SECRET_VARIABLES, AspectragError

_PLACEHOLDER = "none"  # what a server without keys is sent


def register_server(api_base: str, key_variable: str | None, json_schema: bool, reasons: bool = False) -> str:
    """Make a server known to DSPy for this process.

    Args:
        api_base: Address, usually ending in ``/v1``.
        key_variable: Environment variable the key is read from at every call, or None for a server without keys.
        json_schema: Whether the server holds its answers to a schema.
        reasons: Whether the model is one of OpenAI's that reason: they take the limit of an answer under another name.

    Returns:
        The provider name: ``<name>/<model>`` is a model string.

    Raises:
        AspectragError: The address is not one.
    """
    parts = urlsplit(api_base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AspectragError(f"api_base {api_base!r} is not an address such as http://localhost:8000/v1")
    if parts.username or parts.password:
        raise AspectragError("api_base holds a user name or password; use api_key_env instead")
    name = server_name(api_base, key_variable, json_schema, reasons)
    keys = (key_variable,) if key_variable else ()
    register_provider(
        ProviderDefinition.chat(
            AccessPolicy(provider=name, env_keys=keys, base_url=api_base.rstrip("/")),
            compat=OpenAIChatCompat(max_tokens_field="max_completion_tokens" if reasons else "max_tokens"),
            placeholder_key=None if keys else _PLACEHOLDER,
        ),
        supports=ModelSupport(response_schema=json_schema, function_calling=False, reasoning=False),
    )
    return name


def server_name(api_base: str, *used: object) -> str:
    """A readable name, different for every address and way of using it.

    Example:
        >>> server_name("http://localhost:8000/v1")
        'localhost-8000-v1-927bd6'
    """
    address = api_base.rstrip("/")
    digest = hashlib.sha256(repr((address, *used)).encode()).hexdigest()[:6]
    readable = re.sub(r"[^a-z0-9]+", "-", address.split("://", 1)[-1].lower()).strip("-")
    return f"{readable}-{digest}"


def key_variable(named: str | None, default: str) -> str | None:
    """The environment variable with the key: the one named, else the provider's usual one if it is set.

    Raises:
        AspectragError: The one named is not set.
    """
    if named:
        if not os.environ.get(named):
            raise AspectragError(
                f"the key of the language model is to be in {named}, which is not set: export {named}=…"
            )
        SECRET_VARIABLES.add(named)
        return named
    return default if os.environ.get(default) else None
