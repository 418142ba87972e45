"""Reads back from a prompt what DSPy's chat and JSON adapters wrote into it: fields asked for, format, input values."""

import re
from dataclasses import dataclass
from typing import Literal

from dspy.lm15 import Request

Format = Literal["chat", "json", "text"]

# The sections of the system message, in this order. Descriptions and instructions are the user's own text and may
# quote anything; a field's line starts with its number.
_INPUTS = "Your input fields are:"
_OUTPUTS = "Your output fields are:"
_STRUCTURE = "All interactions will be structured in the following way"
_JSON_STRUCTURE = "Outputs will be a JSON object"
_FIELD = re.compile(r"^(\d+)\. `(\w+)` \(", re.MULTILINE)
_MARKER = re.compile(r"^\[\[ ## (\w+) ## \]\][ ]*\n?", re.MULTILINE)
_REQUIREMENTS = re.compile(r"\n*^Respond with (?:the corresponding output fields|a JSON object)", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """What a prompt asks for.

    Attributes:
        fields: Names of the output fields, in order; empty for a prompt that no adapter wrote.
        inputs: The input fields of the question at hand (not of the demos), as text.
        format: How the adapter expects the answer.
        prompt: System text and messages, joined by blank lines.
    """

    fields: tuple[str, ...]
    inputs: dict[str, str]
    format: Format
    prompt: str


def asked(request: Request) -> Asked:
    """Read a request back."""
    system = (
        request.system
        if isinstance(request.system, str)
        else "".join(getattr(part, "text", "") for part in request.system or ())
    )
    messages = [message.text or "" for message in request.messages]
    head, structure, rest = system.partition(_STRUCTURE)
    described, found, outputs = head.partition(_OUTPUTS)
    prompt = "\n\n".join([system, *messages] if system else messages)
    if not (structure and found):
        return Asked((), {}, "text", prompt)
    return Asked(
        fields=_names(outputs),
        inputs=_values(messages[-1], _names(described.partition(_INPUTS)[2])),
        format="json" if _JSON_STRUCTURE in rest else "chat",
        prompt=prompt,
    )


def _names(section: str) -> tuple[str, ...]:
    """The field names of a section: lines numbered 1, 2, 3 (a description may hold numbered lines of its own)."""
    names: list[str] = []
    for match in _FIELD.finditer(section):
        if int(match[1]) == len(names) + 1:
            names.append(match[2])
    return tuple(names)


def _values(message: str, names: tuple[str, ...]) -> dict[str, str]:
    """Values in the order of the signature: a marker quoted inside a value is not the next field's."""
    end = max((match.start() for match in _REQUIREMENTS.finditer(message)), default=len(message))
    body = message[:end]
    starts: list[tuple[str, int, int]] = []
    expected = iter(names)
    wanted = next(expected, None)
    for match in _MARKER.finditer(body):
        # A field may have been left out of the prompt: skip forward to the one that is there.
        if match[1] in names and wanted is not None and names.index(match[1]) >= names.index(wanted):
            starts.append((match[1], match.start(), match.end()))
            while wanted is not None and wanted != match[1]:
                wanted = next(expected, None)
            wanted = next(expected, None)
    ends = [start for _, start, _ in starts[1:]] + [len(body)]
    return {name: body[begin:end].strip() for (name, _, begin), end in zip(starts, ends, strict=True)}
