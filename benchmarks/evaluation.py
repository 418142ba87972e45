"""What the runner costs: time beside the language model's own, and memory over many questions.

    python benchmarks/evaluation.py

A scripted model answers after 200 ms; 64 questions are asked of ``rag`` with 16 at once, which takes at least
64 / 16 x 200 ms; a bare ``dspy.Predict`` is measured beside it. Asking is from the first question to the last answer
written down; the whole has folders, cache, scores and intervals too, which take the same second however long the run
is. Memory is the most that a process of its own held while 10,000 questions were asked, answered at once, written down
and scored. Nothing is random; repeated runs differ by what else the machine does.
"""

import argparse
import contextvars
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dspy
import ujson
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.evaluation.evaluation import evaluate
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.blocks.passages import numbered
from aspectrag.programs.config import AnswerConfig
from aspectrag.signatures import AnswerFromPassages
from measure import interval, write

LATENCY, WORKERS, QUESTIONS, MANY = 0.2, 16, 64, 10_000
WORDS = " ".join(f"word{n}" for n in range(100))


class Instant:
    """A retriever that finds the same five passages of 100 words at once."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """The passages, for each query."""
        return [[Passage(f"p{n}", f"Title {n}", WORDS, 1.0 / (n + 1)) for n in range(k)] for _ in queries]

    def __deepcopy__(self, memo: dict[int, object]) -> "Instant":
        return self


def questions(count: int) -> list[dspy.Example]:
    """Questions that all differ."""
    return [question(f"q{n}", f"What is the number {n}?", [f"answer {n}"], type=f"t{n % 5}") for n in range(count)]


def run(count: int, latency: float, workers: int) -> tuple[float, float]:
    """Seconds for a whole evaluation, and for asking alone."""
    lm = scripted_lm({"answer": "The answer 1.", "citations": [1]}, latency=latency)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        programs = {"rag": Rag(AnswerConfig(k=5), Instant())}
        (done,) = evaluate(
            programs, questions(count), folder, metrics=["em", "f1"], lm=lm, workers=workers, progress=False
        )
        whole = time.perf_counter() - started
        files = list((done.path / "traces").iterdir())
        first = min(ujson.loads(file.read_text())["steps"][0]["started"] for file in files)
        return whole, (done.path / "predictions.jsonl").stat().st_mtime - first


def bare() -> float:
    """Seconds for the same calls by a bare ``dspy.Predict`` in a pool of threads: nothing is traced or written."""
    lm = scripted_lm({"answer": "The answer 1.", "citations": [1]}, latency=LATENCY)
    predict, passages = dspy.Predict(AnswerFromPassages), numbered(Instant().search(["q"], 5)[0])
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    with dspy.context(lm=lm, disable_history=True), ThreadPoolExecutor(WORKERS) as pool:
        work = lambda n: predict(passages=passages, question=f"What is the number {n}?")  # noqa: E731
        started = time.perf_counter()
        for done in [pool.submit(contextvars.copy_context().run, work, n) for n in range(QUESTIONS)]:
            done.result()
        return time.perf_counter() - started


def many(pipe: Any) -> None:
    """Ask many questions, and tell the most memory that this process held, in MiB, and the seconds."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds, _ = run(MANY, 0.0, WORKERS)
    pipe.send((before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, seconds))


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=15)
    args = parser.parse_args()
    run(WORKERS, 0.0, WORKERS)  # imports, and threads
    ideal = QUESTIONS / WORKERS * LATENCY
    wholes, times, raw = [], [], []
    for _ in range(args.repetitions):
        whole, asking = run(QUESTIONS, LATENCY, WORKERS)
        wholes.append(whole)
        times.append(asking)
        raw.append(bare())
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=many, args=(theirs,))
    process.start()
    before, most, seconds = ours.recv()
    process.join()
    rows = [
        {"what": f"asking {QUESTIONS} questions, {WORKERS} at once, 200 ms a call: seconds", **interval(times)},
        {"what": "the same as a multiple of the least", **interval([each / ideal for each in times])},
        {"what": "as a multiple of bare calls", **interval([a / b for a, b in zip(times, raw, strict=True)])},
        {"what": "bare calls as a multiple of the least", **interval([each / ideal for each in raw])},
        {"what": "the whole evaluation of them: seconds", **interval(wholes)},
        {"what": f"{MANY} questions: MiB of memory, {before:.0f} of it libraries", "median": round(most), "n": 1},
        {"what": f"{MANY} questions: seconds", "median": round(seconds, 1), "n": 1},
    ]
    write("evaluation", {"latency": LATENCY, "workers": WORKERS}, rows)


if __name__ == "__main__":
    main()
