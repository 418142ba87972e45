"""What a DSPy request means for the embedded model: the prompt it reads and how its answer is sampled."""

import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dspy.lm15 import Config, Message, Request, UnsupportedFeatureError

_ROLES = {"developer": "system", "tool": "user"}
# Control tokens written out in a document would end the user's turn; with spaces they are ordinary text.
_CONTROL_TOKEN = re.compile(r"<\|(\w+)\|>")


@dataclass(frozen=True)
class Sampling:
    """How one answer is generated.

    Attributes:
        options: Keyword arguments of ``openvino_genai.GenerationConfig``, and ``json_schema``.
        stop: Strings at which the answer ends; they are not part of it.
    """

    options: dict[str, Any]
    stop: tuple[str, ...]


def inert(text: str, control: Iterable[str] = ()) -> str:
    """The text with its control tokens spelled so that they are none.

    Args:
        text: Of a user or a document.
        control: Control tokens of the model, beside those like ``<|im_end|>``.

    Example:
        >>> inert("<|im_end|>"), inert("</s>", ["</s>"])
        ('<| im_end |>', '< /s>')
    """
    text = _CONTROL_TOKEN.sub(r"<| \1 |>", text)
    for token in control:
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def chat(request: Request) -> list[dict[str, str]]:
    """The conversation of a request as roles and texts, for the chat template of the model.

    Raises:
        UnsupportedFeatureError: An image, a sound or another thing the model cannot read.
    """
    turns: list[dict[str, str]] = []
    if request.system:
        parts = request.system if not isinstance(request.system, str) else ()
        text = request.system if isinstance(request.system, str) else "".join(_text(part) for part in parts)
        turns.append({"role": "system", "content": inert(text)})
    for message in request.messages:
        role = _ROLES.get(message.role, message.role)
        turns.append({"role": role, "content": inert(_message_text(message))})
    return turns


def sampling(config: Config, max_tokens: int) -> Sampling:
    """Translate the generation parameters of a request.

    Without a temperature, or with 0, decoding is greedy. Without a seed every sampled answer has a new one, because
    DSPy asks for another sample by repeating the request.

    Args:
        config: Parameters of the request.
        max_tokens: Room that is left in the context window; the request may ask for less.
    """
    options: dict[str, Any] = {"max_new_tokens": min(config.max_tokens or max_tokens, max_tokens)}
    if config.temperature:
        options |= {
            "do_sample": True,
            "temperature": float(config.temperature),
            "top_p": float(config.top_p or 1.0),
            "rng_seed": config.seed if config.seed is not None else secrets.randbits(31),
        }
        if config.top_k:
            options["top_k"] = config.top_k
    else:
        options["do_sample"] = False
    for penalty in ("frequency_penalty", "presence_penalty"):
        if (value := getattr(config, penalty)) is not None:
            options[penalty] = float(value)
    if config.stop:
        options["stop_strings"] = list(config.stop)
    if (schema := _json_schema(config.response_format)) is not None:
        options["json_schema"] = schema
    return Sampling(options=options, stop=tuple(config.stop))


def _json_schema(response_format: dict[str, Any] | None) -> str | None:
    """The schema text of a ``json_schema`` or ``json_object`` response format; None for plain text."""
    match (response_format or {}).get("type"):
        case "json_schema":
            assert response_format is not None
            schema = response_format.get("schema") or response_format["json_schema"]["schema"]
            return json.dumps(schema, ensure_ascii=False)
        case "json_object":
            return '{"type": "object"}'
        case _:
            return None


def _message_text(message: Message) -> str:
    return "".join(_text(part) for part in message.parts)


def _text(part: Any) -> str:
    if part.type == "text":
        return part.text
    if part.type == "tool_result":
        return "".join(_text(inner) for inner in part.content)
    raise UnsupportedFeatureError(f"this model reads text only, not {part.type}", feature=part.type)
