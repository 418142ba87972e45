"""A stage as a small model that was trained for it is asked: the values of its fields, and nothing else."""

import json
from typing import Any

import dspy
from dspy.adapters.utils import serialize_for_json
from dspy.utils.exceptions import AdapterParseError

from ...texts import encodable
from .adapter import StructuredAdapter, is_cut_off


class BareAdapter(StructuredAdapter):
    r"""One message without instructions and demos, which the weights hold already; the answer is JSON under a schema.

    Example:
        >>> BareAdapter().format(dspy.Signature("question, found: list[str] -> verdict"), [],
        ...                      {"question": "Why?", "found": ["So."]})[0]["content"]
        'question: Why?\nfound: ["So."]\n-> verdict'
    """

    def format(
        self,
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],  # noqa: ARG002
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """The message: a line for each input that is given, and one that names the outputs."""
        lines = [f"{name}: {_text(inputs[name])}" for name in signature.input_fields if name in inputs]
        asked = f"-> {', '.join(signature.output_fields)}"
        return [{"role": "user", "content": encodable("\n".join([*lines, asked]))}]

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Read the object; one that was cut off is none, where DSPy would take half a question for a question."""
        if is_cut_off(completion):
            asked: Any = signature
            raise AdapterParseError(adapter_name="BareAdapter", signature=asked, lm_response=completion)
        return super().parse(signature, completion)

    def format_finetune_data(
        self,
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
        outputs: dict[str, Any],
    ) -> dict[str, list[Any]]:
        """The message and its answer, as an example to learn from."""
        answer = {name: serialize_for_json(outputs[name]) for name in signature.output_fields}
        said = {"role": "assistant", "content": encodable(_compact(answer))}
        return {"messages": [*self.format(signature, demos, inputs), said]}


def _text(value: Any) -> str:
    plain = serialize_for_json(value)
    return plain if isinstance(plain, str) else _compact(plain)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
