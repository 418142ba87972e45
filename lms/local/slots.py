"""How what a local model reads and writes is cut into tokens: the same where it is trained and where it is used.

An answer is a JSON object. Its names and braces are forced, its values are found by the model, each in a slot of its
own. Forced text and values are tokenised one by one, so that what was learnt fits whatever value comes before.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import TemplateError

from ...errors import AspectragError
from ...texts import encodable
from ..sampling import inert
from .bases import first_line

_REFERENCE = "#/$defs/"


def compact(value: Any) -> str:
    """JSON as local models read and write it: no spaces, no escapes for other scripts.

    Example:
        >>> compact({"sub_questions": ["Où?", "Why?"]})
        '{"sub_questions":["Où?","Why?"]}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def prompt_ids(tokenizer: Any, messages: Sequence[Mapping[str, str]]) -> list[int]:
    """The tokens of a conversation up to where the answer begins.

    A lone message of the user is read as it stands, a line end behind it; chat templates would add a system prompt to
    it. Anything else goes through the template.

    Args:
        tokenizer: Of the base, from transformers.
        messages: With ``role`` and ``content``, without the answer.

    Raises:
        AspectragError: The base has no chat template, or one that refuses the conversation.
    """
    turns = [{"role": each["role"], "content": harmless(tokenizer, each["content"])} for each in messages]
    if [turn["role"] for turn in turns] == ["user"]:
        return tokens(tokenizer, turns[0]["content"] + "\n")
    if not tokenizer.chat_template:
        raise AspectragError("the base of this local model has no chat template: use an adapter that is asked barely")
    try:
        text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    except TemplateError as error:
        raise AspectragError(
            f"the chat template of this local model refuses the conversation ({first_line(error)}): use an adapter "
            f"that is asked barely, or another base"
        ) from error
    return tokens(tokenizer, text)


def harmless(tokenizer: Any, text: str) -> str:
    """The text with the control tokens of a base spelled so that they are none."""
    return inert(text, [token.content for token in tokenizer.added_tokens_decoder.values() if token.special])


def tokens(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a text, and none that the tokenizer would put around it."""
    return tokenizer.encode(encodable(text), add_special_tokens=False)


def pieces(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The forced text and the value of each field; the closing brace is neither read nor learnt.

    Example:
        >>> pieces({"route": "complex", "sure": True})
        [('{"route":', '"complex"'), (',"sure":', 'true')]
    """
    return [(forced(name, place), compact(value)) for place, (name, value) in enumerate(answer.items())]


def forced(name: str, place: int) -> str:
    """What stands before the value of the field at a place, counted from 0.

    Example:
        >>> forced("route", 0), forced("sure", 1)
        ('{"route":', ',"sure":')
    """
    return f"{',' if place else '{'}{compact(name)}:"


def properties(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas of an object's properties, in order, each complete with the definitions that it refers to.

    Example:
        >>> properties({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}})
        {'a': {'$ref': '#/$defs/A', '$defs': {'A': {'type': 'string'}}}}
    """
    shared = {"$defs": schema["$defs"]} if schema.get("$defs") else {}
    return {name: {**part, **shared} for name, part in schema.get("properties", {}).items()}


def labels(schema: Mapping[str, Any]) -> list[Any] | None:
    """The labels that a property is chosen from; None where its value is free.

    Args:
        schema: Of the property, with its ``$defs`` if it refers to any.

    Example:
        >>> labels({"enum": ["end", "continue"]}), labels({"type": "boolean"}), labels({"type": "string"})
        (['end', 'continue'], [True, False], None)
    """
    return _labels(schema, schema.get("$defs", {}))


def _labels(schema: Mapping[str, Any], defined: Mapping[str, Any]) -> list[Any] | None:
    reference = schema.get("$ref", "")
    if reference.startswith(_REFERENCE):
        # Its own name is taken away: what refers to itself is no label.
        name = reference.removeprefix(_REFERENCE)
        return _labels(defined.get(name, {}), {other: each for other, each in defined.items() if other != name})
    if "enum" in schema:
        return list(schema["enum"]) or None
    if "const" in schema:
        return [schema["const"]]
    if "anyOf" in schema:
        each = [_labels(option, defined) for option in schema["anyOf"]]
        return [label for some in each for label in some or ()] if None not in each else None
    return {"boolean": [True, False], "null": [None]}.get(schema.get("type", ""))
