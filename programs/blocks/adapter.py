"""How a signature is put to a language model, chosen by what the model can do."""

import json
import re
from typing import Any, Literal, get_args, get_origin

import dspy
import jiter
import json_repair
from dspy.utils.exceptions import AdapterParseError

from ...texts import encodable
from .citations import joined

_MARK = re.compile(r"\[\[ ## (answer|sentences) ## \]\]")
_VERDICTS = ("true", "false", "yes", "no")
_AROUND, _REASON = r"""[*_`"']{0,4}""", r"[ ]{0,9}[.,;:/。，！!\n][^\[]*"
# More than any output of ours has; reading what is nested deeper takes time that grows with the square of its length.
_MOST_BRACES = 200


def answer_so_far(text: str) -> str:
    r"""The answer within a reply, whole or still being written, as JSON or in DSPy's chat format; empty where none is.

    Of an answer that is written as a list of sentences, the last is held back: its citations may not have come yet.

    Example:
        >>> answer_so_far('{"answer": "Two ri')
        'Two ri'
        >>> answer_so_far("[[ ## answer ## ]]\nTwo rivers [1]\n\n[[ ## comp")
        'Two rivers [1]'
        >>> answer_so_far('{"sentences": [{"sentence": "Two rivers.", "passages": [1]}, {"sentence": "Th')
        'Two rivers. [1]'
    """
    if text.lstrip().startswith("{"):
        reply = _partial(text)
        answer = reply.get("answer", reply.get("sentences")) if isinstance(reply, dict) else None
    elif found := _MARK.search(text):
        # The next mark may have come in half: whatever opens it is held back.
        answer = text[found.end() :].split("[[ ##", 1)[0].removesuffix("[[").removesuffix("[").strip()
        answer = _partial(answer) if found[1] == "sentences" else answer
    else:
        return ""
    if isinstance(answer, list):
        return joined((each.get("sentence"), each.get("passages")) for each in answer[:-1] if isinstance(each, dict))
    return answer if isinstance(answer, str) else ""


def answer_left(text: str) -> str:
    r"""The answer within a reply that was cut off: its whole sentences, or the only one, without what it would cite.

    Example:
        >>> answer_left('{"sentences": [{"sentence": "Two rivers.", "passages": [1]}, {"sentence": "Th')
        'Two rivers. [1]'
        >>> answer_left('{"sentences": [{"sentence": "Two rivers.", "pass')
        'Two rivers.'
        >>> answer_left('{"sentences": [{"sentence": "Two riv')
        ''
    """
    if answer := answer_so_far(text):
        return answer
    found = _MARK.search(text)
    # What is not closed is left out here.
    reply = _partial(text[found.end() :] if found else text, "on")
    sentences = reply.get("sentences") if isinstance(reply, dict) else reply
    items = sentences if isinstance(sentences, list) else []
    return joined((each.get("sentence"), each.get("passages")) for each in items if isinstance(each, dict))


def is_cut_off(text: str) -> bool:
    r"""Whether a reply ends within its JSON, as one does that reached the model's ``max_tokens``.

    Example:
        >>> is_cut_off('{"sentences": [{"sentence": "Two rivers.", "passages": [1]}, {"sentence": "Th')
        True
        >>> is_cut_off('{"answer": "Two rivers."}'), is_cut_off("Two rivers.")
        (False, False)
    """
    found = _MARK.search(text)
    body = (text[found.end() :] if found else text).strip()
    if not body.startswith(("{", "[")):
        return False
    try:
        jiter.from_json(body.encode())
    except ValueError as error:
        return "EOF" in str(error)
    return False


def _partial(text: str, mode: Literal["on", "trailing-strings"] = "trailing-strings") -> Any:
    try:
        return jiter.from_json(text.strip().encode(), partial_mode=mode)
    except ValueError:
        return None


class _Encodable:
    """Makes every message one that a provider can receive; goes before an adapter in the bases."""

    # No subclass of an adapter itself: DSPy gives every such class a ``parse`` of its own, which would hide others.
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._structures: dict[tuple[Any, ...], str] = {}

    def format_field_structure(self, signature: type[dspy.Signature]) -> str:
        # DSPy makes a schema of every field for it, in every call: a millisecond that all threads wait for.
        outputs = signature.output_fields
        key = tuple((name, field.annotation, name in outputs) for name, field in signature.fields.items())
        if key not in self._structures:
            structure: Any = super().format_field_structure  # pyright: ignore[reportAttributeAccessIssue]
            self._structures[key] = structure(signature)
        return self._structures[key]

    def format(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        messages = super().format(*args, **kwargs)  # pyright: ignore[reportAttributeAccessIssue]
        return [{**m, "content": encodable(m["content"])} if isinstance(m["content"], str) else m for m in messages]


class StructuredAdapter(_Encodable, dspy.JSONAdapter):
    """DSPy's JSON format, for models that can be held to a schema."""

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Read the object; DSPy would take ``null`` for the text "None", here it counts as missing."""
        if completion.count("{") > _MOST_BRACES:
            raise _unreadable(signature, completion)
        if "sentences" in signature.output_fields and is_cut_off(completion):  # DSPy would mend half a sentence
            raise _unreadable(signature, completion)
        completion = _exact_labels(signature, completion)
        try:
            if "null" in completion and isinstance(fields := json_repair.loads(completion), dict):
                completion = json.dumps({name: value for name, value in fields.items() if value is not None})
            return super().parse(signature, completion)
        except AdapterParseError:
            raise
        except (RecursionError, ValueError) as error:  # brackets nested hundreds deep
            raise _unreadable(signature, completion) from error


class TolerantChatAdapter(_Encodable, dspy.ChatAdapter):
    """Chat format that also accepts the same answer given as JSON, without a second call.

    Small models often answer in fenced JSON, a bare list, or with words around it. DSPy would ask again; the answer is
    already there. A second call is left to the bounded retries of the stage.
    """

    def __init__(self) -> None:
        super().__init__(use_json_adapter_fallback=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Read the marked fields, or failing that JSON anywhere in the text.

        Raises:
            AdapterParseError: Neither reading gives every output field its type.
        """
        if completion.count("{") > _MOST_BRACES:
            raise _unreadable(signature, completion)
        try:
            return super().parse(signature, _exact_labels(signature, completion))
        except (AdapterParseError, RecursionError) as first:
            try:
                return _JSON.parse(signature, _as_object(signature, completion))
            except (AdapterParseError, ValueError, RecursionError):
                raise (first if isinstance(first, AdapterParseError) else _unreadable(signature, completion)) from None


def _unreadable(signature: type[dspy.Signature], completion: str) -> AdapterParseError:
    asked: Any = signature
    return AdapterParseError(adapter_name="JSONAdapter", signature=asked, lm_response=completion)


def _exact_labels(signature: type[dspy.Signature], completion: str) -> str:
    """Labels as the signature spells them, where a model wrote ``Complex.``, ``**True**``, ``4/5`` or gave a reason."""
    for name, field in signature.output_fields.items():
        kind = field.annotation
        labels = get_args(kind) if get_origin(kind) is Literal else _VERDICTS if kind is bool else ()
        exact = {str(label).casefold(): str(label) for label in labels}
        if not exact:
            continue
        # Longer labels come first; what may stand around one is bounded, so that the patterns are never slow.
        any_of = "|".join(re.escape(label).replace(r"\-", "[- ]") for label in sorted(exact, key=len, reverse=True))
        section = rf"(\[\[ ## {name} ## \]\]\s{{0,9}}){_AROUND}({any_of}){_AROUND}(?:\s{{0,9}}|{_REASON})(?=\[\[ ##|$)"
        quoted = rf'("{name}"\s{{0,9}}:\s{{0,9}}"){_AROUND}({any_of})[*_`\'.,。]{{0,4}}(?=")'

        def spell(match: re.Match[str], exact: dict[str, str] = exact) -> str:
            return match[1] + (exact.get(match[2].casefold()) or exact[match[2].casefold().replace(" ", "-")])

        completion = re.sub(section, lambda m: spell(m) + "\n\n", completion, flags=re.IGNORECASE)
        completion = re.sub(quoted, spell, completion, flags=re.IGNORECASE)
    return completion


def _as_object(signature: type[dspy.Signature], completion: str) -> str:
    """Where one list is asked for and a bare list is given, name it."""
    names = list(signature.output_fields)
    if len(names) == 1 and get_origin(signature.output_fields[names[0]].annotation) is list:
        start, end = completion.find("["), completion.rfind("]")
        items = json_repair.loads(completion[start : end + 1]) if 0 <= start < end else None
        # An empty list within a sentence is no answer, on its own it is one.
        if isinstance(items, list) and (items or completion.strip() == "[]"):
            return json.dumps({names[0]: items}, ensure_ascii=False)
    return completion


_JSON = StructuredAdapter()
