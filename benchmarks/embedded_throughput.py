"""Tokens per second of the embedded model: one caller, eight at once, the bare pipeline with the same eight.

    python benchmarks/embedded_throughput.py [--repetitions 5] [--tokens 64] [--passage-words 40]

The three are taken in turn within each repetition, so that whatever else the machine does falls on all of them, and
the ratios are taken within a repetition. Every repetition has prompts of its own: the pipeline keeps prefixes it has
read, and would otherwise answer later repetitions faster. Callers go through ``dspy.Predict`` with a JSON schema, as
the programs do. Answers are cut at a limit they hardly ever end before; the tokens written are counted over the whole
time, reading the prompts included. Longer prompts lower every rate, and the gain of asking together with it: what is
shared among callers is the time of writing.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import dspy
from aspectrag.lms.embedded import EmbeddedEngine, EmbeddedOptions
from aspectrag.lms.embedded_model import MODEL_NAME, converted_model, runtime
from aspectrag.lms.sampling import chat, sampling
from dspy.lm15 import Message, Request, Response, TextPart, Usage
from measure import SEED, interval, write

genai = runtime()
CALLERS = 8
_WORDS = """
river market engine harvest museum voltage glacier senate orchard vaccine railway copper
theatre monsoon satellite bakery treaty lantern compost harbour algebra plumage quarry ferry parliament
""".split()  # noqa: SIM905


class Explain(dspy.Signature):
    """Explain in a long text of several paragraphs what the passages say about the question."""

    passages: list[str] = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def question(random_words: random.Random, words: int) -> dict[str, Any]:
    """Inputs nobody has asked before: two passages of random words."""
    passages = [" ".join(random_words.choices(_WORDS, k=words)) for _ in range(2)]
    return {"passages": passages, "question": f"What do {random_words.choice(_WORDS)} and the others have in common?"}


class Capture(EmbeddedEngine):
    """Takes down the requests DSPy makes without answering them: the bare pipeline is given the very same."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Request] = []

    def complete(self, request: Request) -> Response:
        """Remember the request and answer with an empty object."""
        self.seen.append(request)
        answer = Message.assistant([TextPart('{"answer": ""}')])
        return Response(id=None, model=request.model, message=answer, finish_reason="stop", usage=Usage())


class Contest:
    """The three contestants, over one set of options."""

    def __init__(self, tokens: int) -> None:
        options = EmbeddedOptions()
        self.engine = EmbeddedEngine(options)
        settings: dict[str, Any] = {"temperature": 0.0, "max_tokens": tokens, "cache": False, "num_retries": 0}
        self.lm = dspy.LM(f"embedded/{MODEL_NAME}", engine=self.engine, **settings)
        self.predict = dspy.Predict(Explain)
        folder = str(converted_model())
        scheduler = genai.SchedulerConfig()
        scheduler.cache_size = options.cache_gib
        scheduler.max_num_seqs = options.max_batch
        scheduler.max_num_batched_tokens = options.step_tokens
        scheduler.enable_prefix_caching = True
        self.tokenizer = genai.Tokenizer(folder)
        self.pipeline = genai.ContinuousBatchingPipeline(folder, self.tokenizer, scheduler, options.device)
        self.requests = 0

    def callers(self, inputs: list[dict[str, Any]], threads: int) -> float:
        """Tokens per second of so many threads asking through DSPy."""
        with dspy.context(lm=self.lm, adapter=dspy.JSONAdapter()):
            run = dspy.Parallel(num_threads=threads, disable_progress_bar=True, max_errors=10**6)
            before = len(self.lm.history)
            started = time.perf_counter()
            run([(self.predict, one) for one in inputs])
            seconds = time.perf_counter() - started
        return sum(entry["usage"]["completion_tokens"] for entry in self.lm.history[before:]) / seconds

    def prompt_tokens(self) -> float:
        """Mean length of the prompts so far."""
        return statistics.fmean(entry["usage"]["prompt_tokens"] for entry in self.lm.history)

    def requests_for(self, inputs: list[dict[str, Any]]) -> list[Request]:
        """What DSPy sends for these inputs."""
        capture = Capture()
        with dspy.context(lm=self.lm.copy(engine=capture), adapter=dspy.JSONAdapter()):
            for one in inputs:
                self.predict(**one)
        return capture.seen

    def bare(self, inputs: list[dict[str, Any]]) -> float:
        """Tokens per second of the pipeline without anything of ours around it."""
        prepared = []
        for request in self.requests_for(inputs):
            prompt = self.tokenizer.apply_chat_template(chat(request), add_generation_prompt=True)
            how = dict(sampling(request.config, 10_000).options)
            schema = how.pop("json_schema")
            config = genai.GenerationConfig(**how)
            config.apply_chat_template = False
            config.set_eos_token_id(self.tokenizer.get_eos_token_id())
            config.structured_output_config = genai.StructuredOutputConfig(json_schema=schema)
            prepared.append((self.tokenizer.encode(prompt, add_special_tokens=False).input_ids, config))
        started = time.perf_counter()
        handles = []
        for tokens, config in prepared:
            self.requests += 1
            handles.append(self.pipeline.add_request(self.requests, tokens, config))
        while self.pipeline.has_non_finished_requests():
            self.pipeline.step()
        seconds = time.perf_counter() - started
        return sum(len(output.generated_ids) for handle in handles for output in handle.read_all()) / seconds


def main() -> None:
    """Run the contest, print a table, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64, help="length of every answer")
    parser.add_argument("--passage-words", type=int, default=40, help="length of each of the two passages")
    arguments = parser.parse_args()
    random_words = random.Random(SEED)
    contest = Contest(arguments.tokens)
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    rates: dict[str, list[float]] = {"one caller": [], "eight callers": [], "bare pipeline": []}

    def repetition(number: int) -> dict[str, float]:
        alone = [question(random_words, arguments.passage_words)]
        together = [question(random_words, arguments.passage_words) for _ in range(CALLERS)]
        turns: list[tuple[str, Callable[[], float]]] = [
            ("one caller", lambda: contest.callers(alone, 1)),
            ("eight callers", lambda: contest.callers(together, CALLERS)),
            ("bare pipeline", lambda: contest.bare(together)),
        ]
        first = number % len(turns)  # whose turn is first goes round
        return {name: turn() for name, turn in turns[first:] + turns[:first]}

    repetition(0)  # warms up both pipelines and the grammar
    for number in range(arguments.repetitions):
        for name, rate in repetition(number).items():
            rates[name].append(rate)
    settings = {
        "model": MODEL_NAME,
        "repetitions": arguments.repetitions,
        "callers": CALLERS,
        "tokens_per_answer": arguments.tokens,
        "tokens_per_prompt": round(contest.prompt_tokens(), 1),
    }
    write("embedded_throughput", settings, rows(rates))
    contest.engine.close()


def rows(rates: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Tokens per second of each contestant, and the two ratios, taken within each repetition."""
    eight = rates["eight callers"]
    ratios = {
        ("eight callers / one caller", ">= 3"): rates["one caller"],
        ("eight callers / bare pipeline", ">= 0.95"): rates["bare pipeline"],
    }
    return [
        *({"measure": f"{name}, tokens/s", **interval(values)} for name, values in rates.items()),
        *(
            {"measure": name, **interval([a / b for a, b in zip(eight, below, strict=True)]), "required": required}
            for (name, required), below in ratios.items()
        ),
    ]


if __name__ == "__main__":
    main()
