"""From a name to a language model DSPy can use."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dspy

from ..errors import AspectragError, nearest
from .named import NamedLM
from .options import OPTION_NAMES, LmOptions, changed
from .patient import PatientLM
from .profiles import Profiles, read_profiles
from .servers import key_variable, register_server

if TYPE_CHECKING:
    from .embedded import EmbeddedOptions

# Otherwise the first priced call downloads a price list from the net, unasked.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

_EMBEDDED_MAX_TOKENS = 1024
# What steers a question is short.
_LOCAL_MAX_TOKENS = 512
_OLLAMA_NUM_CTX = 8192
# Servers that hold an answer to a JSON schema whatever the model; of any other address that is not known.
_SCHEMA_SERVERS = ("hosted_vllm",)
_COMPATIBLE = ("openai", "hosted_vllm")
_OLLAMA = ("ollama", "ollama_chat")
_REASONING_MIN_TOKENS = 16_000
_TIMEOUT = 120.0


def load(spec: str | None = None, **options: Any) -> dspy.LM:
    """A language model by name, ready for ``dspy.context(lm=...)``.

    What is said here goes before the environment (``ASPECTRAG_LM``, ``ASPECTRAG_API_BASE`` and so on, one variable for
    each option), that before the profile file, and without any of them it is the embedded model. Nothing is loaded or
    asked yet. The model has an attribute ``context_window`` (tokens, or None where it is not known).

    Args:
        spec: ``embedded``, ``local/NAME`` (an adapter's folder, a base's folder, a name on the hub, ``smollm2``), a
            name from the profile file, or a model string.
        **options: Fields of :class:`~aspectrag.lms.options.LmOptions`; None means not said.

    Raises:
        AspectragError: There is no such model or option, or what it needs is missing.

    Example:
        >>> load("openai/gpt-4o-mini", temperature=0.5).kwargs["temperature"]
        0.5
    """
    return build(resolve(spec, **options))


def resolve(spec: str | None = None, **options: Any) -> LmOptions:
    """What :func:`load` would build, spelled out.

    Raises:
        AspectragError: There is no such model or option.

    Example:
        >>> resolve("openai/gpt-4o-mini", max_tokens=99).max_tokens
        99
    """
    profiles = read_profiles()
    explicit = {name: value for name, value in options.items() if value is not None}
    name = spec or explicit.pop("model", None) or os.environ.get("ASPECTRAG_LM") or profiles.default or "embedded"
    found = changed(_named(name, profiles), _environment(), "environment")
    return changed(found, explicit, "options")


def roles(given: Mapping[str, str] | None = None, default: Mapping[str, str] | None = None) -> dict[str, dspy.LM]:
    """The language models of the stages that have one of their own, by stage name.

    The environment does not apply: it names one model, and these are the exceptions from it.

    Args:
        given: Names of language models by stage name, over those of the profile file.
        default: The same, for the stages that neither names.

    Raises:
        AspectragError: The profile file is wrong, there is no such model, or what it needs is missing.

    Example:
        >>> own = roles({"classify": "openai/gpt-4o-mini"})
        >>> own["classify"].model
        'openai/gpt-4o-mini'
    """
    profiles = read_profiles()
    named = {**(default or {}), **profiles.roles, **(given or {})}
    return {stage: build(_named(name, profiles)) for stage, name in named.items()}


def build(options: LmOptions) -> NamedLM:
    """The language model these options describe.

    Raises:
        AspectragError: What it needs is missing.
    """
    lm = _built(options)
    # The string of a local model holds its hash: what is saved of it must be true of the weights that are loaded.
    return lm.made_of(replace(options, model=lm.model) if lm.model.startswith("local/") else options)


def _built(options: LmOptions) -> NamedLM:
    if options.model == "embedded":
        return _embedded(options)
    provider = options.model.partition("/")[0]
    if provider == "local":
        return _local(options)
    if provider in _OLLAMA:
        return _ollama(options)
    base = options.api_base or _gateway(provider)
    if provider in _COMPATIBLE and base:
        return _server(replace(options, api_base=base))
    if base:
        return _lm(options, options.model, api_base=base, litellm_metadata={"server": base}, **_key(options))
    return _lm(options, options.model, context=_known_window(options.model), **_key(options))


def _embedded(options: LmOptions) -> NamedLM:
    from .embedded import AsyncEmbeddedEngine, EmbeddedOptions, model_string, shared

    settings = _embedded_options(EmbeddedOptions(), options)
    engine = shared(settings)
    lm = NamedLM(
        model_string(),
        engine=engine,
        async_engine=AsyncEmbeddedEngine(engine),
        temperature=options.temperature,
        max_tokens=options.max_tokens or _EMBEDDED_MAX_TOKENS,
        num_retries=0,  # no passing reasons here: what fails in this process fails again
        cache=options.cache,
    )
    return _with_window(lm, settings.context_window)


def _embedded_options(settings: "EmbeddedOptions", options: LmOptions) -> "EmbeddedOptions":
    _known(options.extra, ("cache_gib", "max_batch", "step_tokens", "device"), "the embedded model has")
    window = min(options.context_window or settings.context_window, settings.context_window)
    return replace(settings, context_window=window, timeout=options.timeout, **options.extra)


def _local(options: LmOptions) -> NamedLM:
    from .local.engine import LocalOptions
    from .local.lm import local_lm

    settings = LocalOptions()
    _known(options.extra, ("max_batch", "device"), "local models have")
    window = min(options.context_window or settings.context_window, settings.context_window)
    return local_lm(
        options.model,
        replace(settings, context_window=window, timeout=options.timeout, **options.extra),
        temperature=options.temperature,
        max_tokens=options.max_tokens or _LOCAL_MAX_TOKENS,
        cache=options.cache,
    )


def _known(extra: Mapping[str, Any], allowed: Sequence[str], who: str) -> None:
    for name in extra:
        if name not in allowed:
            raise AspectragError(f"{who} no option {name!r}{nearest(name, allowed)}")


def _ollama(options: LmOptions) -> NamedLM:
    # Ollama cuts what exceeds its own small default without a word: say the size, and tell it to the callers.
    num_ctx = options.num_ctx or options.context_window or _OLLAMA_NUM_CTX
    base = options.api_base or os.environ.get("OLLAMA_API_BASE") or "http://localhost:11434"
    lm = _lm(options, options.model, api_base=base, num_ctx=num_ctx, litellm_metadata={"server": base}, **_key(options))
    return _with_window(lm, min(num_ctx, options.context_window or num_ctx))


def _server(options: LmOptions) -> NamedLM:
    assert options.api_base is not None
    provider, _, model = options.model.partition("/")
    schema = options.json_schema if options.json_schema is not None else provider in _SCHEMA_SERVERS
    variable = key_variable(options.api_key_env, f"{provider.upper()}_API_KEY")
    name = register_server(options.api_base, variable, schema, _reasons(model))
    return _lm(options, f"{name}/{model}", context=None)


def _lm(options: LmOptions, model: str, context: int | None = None, **arguments: Any) -> NamedLM:
    temperature, max_tokens = options.temperature, options.max_tokens
    if _reasons(model):
        temperature = temperature or None  # they refuse every temperature but 1
        max_tokens = max_tokens and max(max_tokens, _REASONING_MIN_TOKENS)
    lm = PatientLM(
        model,
        temperature=temperature,
        max_tokens=max_tokens,
        patience=options.num_retries,
        timeout=options.timeout or _TIMEOUT,
        cache=options.cache,
        **arguments,
        **options.extra,
    )
    return _with_window(lm, options.context_window or context)


def _with_window(lm: NamedLM, tokens: int | None) -> NamedLM:
    lm.context_window = tokens  # pyright: ignore[reportAttributeAccessIssue]
    return lm


def _reasons(model: str) -> bool:
    from dspy.clients.lm import _is_openai_reasoning_model  # the very rule by which DSPy refuses a temperature

    return _is_openai_reasoning_model(model)


def _known_window(model: str) -> int | None:
    """What DSPy's own table of models says; it has no public name in this release."""
    from dspy.clients.capabilities import model_info

    provider, _, name = model.partition("/")
    window = model_info(provider, name).get("max_input_tokens")
    return window if isinstance(window, int) else None


def _key(options: LmOptions) -> dict[str, Any]:
    if not options.api_key_env:
        return {}
    variable = key_variable(options.api_key_env, "")
    return {"api_key": os.environ[variable]} if variable else {}


def _gateway(provider: str) -> str | None:
    """The address the provider's own environment variables name."""
    prefix = provider.upper()
    return os.environ.get(f"{prefix}_API_BASE") or os.environ.get(f"{prefix}_BASE_URL")


def _named(name: str, profiles: Profiles) -> LmOptions:
    if name in profiles.lms:
        return profiles.lms[name]
    if name == "embedded" or "/" in name:
        return LmOptions(model=name)
    known = ["embedded", *profiles.lms]
    raise AspectragError(
        f"there is no language model {name!r}{nearest(name, known)} (known: {', '.join(known)}, "
        f"and model strings such as openai/gpt-4o-mini or ollama_chat/qwen3:4b)"
    )


def _environment() -> dict[str, str]:
    names = (name for name in OPTION_NAMES if name not in ("model", "extra"))
    return {name: value for name in names if (value := os.environ.get(f"ASPECTRAG_{name.upper()}"))}
