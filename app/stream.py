"""The final answer, piece by piece, out of whatever format the model writes it in."""

from collections.abc import Callable, Iterator
from typing import Any

import dspy

from ..programs.blocks.adapter import answer_so_far
from ..programs.program import Program, Result


def streamed(program: Program, question: str, show: Callable[[str], None]) -> tuple[Result, str]:
    """Run a program and hand its final answer to ``show`` in pieces, as far as the backend streams.

    Sub-questions run in branches, which do not stream; so of all answers written, only the last one comes by here.

    Returns:
        The result, and all that was shown.
    """
    answering: set[int] = {
        id(predictor) for _, predictor in program.named_predictors() if {"answer", "sentences"} & _outputs(predictor)
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
