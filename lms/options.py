"""Everything that can be said about a language model, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..errors import AspectragError, is_secret_name, nearest


@dataclass(frozen=True)
class LmOptions:
    """How a language model is reached and asked.

    Attributes:
        model: ``embedded``, ``local/NAME``, or a DSPy/LiteLLM model string (``openai/gpt-4o-mini``,
            ``ollama_chat/qwen3:4b``).
        api_base: Address of the server, where it is not the provider's own.
        api_key_env: Name of the environment variable that holds the key; the key itself is never written down.
        temperature: 0.0 repeats itself. None leaves it to the server; OpenAI's reasoning models get that by default.
        max_tokens: Most tokens of an answer; None is 1,024 for the embedded model, 512 for local ones and the server's
            own elsewhere.
        context_window: Most tokens of prompt and answer together, where it is not known or to be smaller.
        num_ctx: The context Ollama opens the model with, in tokens; prompts beyond it would be cut silently.
        timeout: Seconds until an answer is given up; None is 120 for servers, and no limit for the embedded and local
            models.
        num_retries: How often a call to a server that failed for a passing reason is repeated; after waits of at most
            a minute each.
        cache: Whether DSPy may answer an identical request from its cache.
        json_schema: Whether the server holds its answers to a JSON schema; None is yes where that is known.
        extra: Further arguments of ``dspy.LM``; for the embedded model ``cache_gib``, ``max_batch``, ``step_tokens``;
            for local ones ``max_batch``, ``device``.

    Example:
        >>> LmOptions("openai/gpt-4o-mini", max_tokens=99).max_tokens
        99
    """

    model: str = "embedded"
    api_base: str | None = None
    api_key_env: str | None = None
    temperature: float | None = 0.0
    max_tokens: int | None = None
    context_window: int | None = None
    num_ctx: int | None = None
    timeout: float | None = None
    num_retries: int = 3
    cache: bool = True
    json_schema: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


OPTION_NAMES = tuple(option.name for option in fields(LmOptions))
_VALIDATE = TypeAdapter(LmOptions)


def changed(options: LmOptions, values: Mapping[str, Any], where: str) -> LmOptions:
    """``options`` with some of them set, checked.

    Args:
        options: What holds where ``values`` says nothing.
        values: Options by name; texts are converted, as environment variables have nothing else.
        where: Where the values come from, for messages.

    Raises:
        AspectragError: An unknown name, a value of the wrong kind, or a key written out.
    """
    for name in values:
        if name not in OPTION_NAMES:
            raise AspectragError(_unknown(name, where))
    extra = values.get("extra", {})
    for name in extra if isinstance(extra, Mapping) else ():
        if is_secret_name(name):
            raise AspectragError(f"{where}: {name!r} in extra would write a key down; use api_key_env")
    known = {name: getattr(options, name) for name in OPTION_NAMES}
    try:
        return _VALIDATE.validate_python({**known, **values})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise AspectragError(f"{where}: {name} = {first['input']!r} is not possible: {first['msg'].lower()}") from error


def _unknown(name: str, where: str) -> str:
    if name != "api_key_env" and is_secret_name(name):
        return f"{where}: {name} would write a key down; put it into an environment variable and name that: api_key_env"
    return f"{where}: there is no option {name!r}{nearest(name, OPTION_NAMES)}"
