"""What an answer took: steps, calls of language models, tokens, money, time.

Each is counted for a question and averaged over questions. ``steps`` are retrieval-generation cycles as HANRAG counts
them (arXiv 2509.09713, section 4); ``tokens`` is ``prompt_tokens + completion_tokens``; ``cost`` is the sum of tokens
times the price of one, over models and calls. The others are counts and a clock, without a source.
"""

from collections.abc import Callable

import dspy

from .metric import Metric


def _field(name: str) -> Callable[[dspy.Example, dspy.Prediction], float | None]:
    """A number that the prediction itself holds; ``None`` where it is not known."""
    return lambda _, prediction: getattr(prediction, name, None)


def _usage(*names: str) -> Callable[[dspy.Example, dspy.Prediction], float | None]:
    """The sum of some of the numbers of its usage; cached calls took nothing and are not in it."""

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float | None:  # noqa: ARG001
        usage = getattr(prediction, "usage", None)
        return sum(usage[name] for name in names) if usage else None

    return score


METRICS = (
    Metric("steps", "rounds of retrieval and answering, one after the other", _field("steps"), "neither"),
    Metric("lm_calls", "calls of language models, cached ones left out", _usage("lm_calls"), "lower"),
    Metric("prompt_tokens", "tokens that language models read", _usage("prompt_tokens"), "lower"),
    Metric("completion_tokens", "tokens that language models wrote", _usage("completion_tokens"), "lower"),
    Metric("tokens", "tokens read and written", _usage("prompt_tokens", "completion_tokens"), "lower"),
    # Of a model without a price it is unknown, which is not 0: the column is not there.
    Metric("cost", "US dollars, where the price of the model is known", _field("cost"), "lower"),
    Metric("seconds", "time from question to answer", _field("seconds"), "lower"),
)
