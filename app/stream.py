"""The final answer, piece by piece, out of whatever format the model writes it in."""

from collections.abc import Callable, Iterator
from typing import Any

import dspy
import jiter

from ..programs.program import Program, Result

_MARK = "[[ ## answer ## ]]"


def answer_so_far(text: str) -> str:
    r"""The answer within a reply that is still being written, as JSON or in DSPy's chat format.

    Example:
        >>> answer_so_far('{"answer": "Two ri')
        'Two ri'
        >>> answer_so_far("[[ ## answer ## ]]\nTwo rivers [1]\n\n[[ ## comp")
        'Two rivers [1]'
    """
    if text.lstrip().startswith("{"):
        try:
            return str(jiter.from_json(text.strip().encode(), partial_mode="trailing-strings").get("answer", ""))
        except (ValueError, AttributeError):
            return ""
    if _MARK not in text:
        return ""
    # The next mark may have come in half: whatever opens it is held back.
    return text.split(_MARK, 1)[1].split("[[", 1)[0].removesuffix("[").strip()


def streamed(program: Program, question: str, show: Callable[[str], None]) -> tuple[Result, str]:
    """Run a program and hand its final answer to ``show`` in pieces, as far as the backend streams.

    Sub-questions run in branches, which do not stream; so of all answers written, only the last one comes by here.

    Returns:
        The result, and all that was shown.
    """
    answering: set[int] = {
        id(predictor) for _, predictor in program.named_predictors() if "answer" in _outputs(predictor)
    }
    shown = text = ""
    for item in _items(program, question):
        if isinstance(item, Result):
            return item, shown
        if getattr(item, "predict_id", None) in answering:
            text += item.choices[0].delta.content or ""
            piece = answer_so_far(text)[len(shown) :]
            if piece:
                show(piece)
                shown += piece
    raise RuntimeError("the program ended without a result")


def _items(program: Program, question: str) -> Iterator[Any]:
    streamer: Any = dspy.streamify(program, async_streaming=False)
    return streamer(question=question)


def _outputs(predictor: dspy.Predict) -> set[str]:
    signature: Any = predictor.signature
    return set(signature.output_fields)
