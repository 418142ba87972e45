"""A small set of questions, programs and metrics to evaluate."""

from aspectrag.data.benchmarks.benchmark import question
from aspectrag.optimizers.metrics import exact_match
from aspectrag.optimizers.metrics.metric import Metric
from fakes import ListRetriever

EM = exact_match.METRIC
CALLS = Metric("lm_calls", "calls", lambda _, prediction: prediction.usage["lm_calls"], better="neither")
TOKENS = Metric("prompt_tokens", "tokens read", lambda _, p: p.usage["prompt_tokens"], better="lower")
TOPICS = ("coal", "wine", "lodge", "dysphagia", "curzon")


def questions(count: int = 10):
    """Questions of two types; every third has no category."""
    return [
        question(
            f"q{n}",
            f"What about {TOPICS[n % len(TOPICS)]}, number {n}?",
            [f"answer {n % 3}"],
            type=("", "odd", "even")[n % 3],
            hops=n % 2,
        )
        for n in range(count)
    ]


def retriever():
    return ListRetriever()


def replies(call):
    """The answer depends on the question alone."""
    number = int(call.inputs["question"].split("number ")[1].rstrip("?"))
    return {"answer": f"Answer {number % 2}.", "citations": [1]}


def failing(*numbers):
    """Replies as usual, but for some questions."""

    def reply(call):
        if any(f"number {number}?" in call.prompt for number in numbers):
            return RuntimeError("it fell over")
        return replies(call)

    return reply
