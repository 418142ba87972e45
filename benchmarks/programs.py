"""What the programs themselves cost: concurrency of sub-questions and judgements, and overhead per model call.

    python benchmarks/programs.py

(a) Typed-RAG on a scripted model that takes 200 ms per call, with five sub-questions: wall time over the critical path
    (classify, plan, the slowest answer, aggregate). (b) HANRAG's compound chain on the same model, with four
    sub-questions of ten passages each: wall time over its critical path (route, decompose, judge, answer, combine).
    (c) Typed-RAG on a scripted model that takes no time: seconds per call beyond
    a bare ``dspy.Predict`` on the same model, measured alternately in one run.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import dspy
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import ScriptedCall, scripted_lm
from aspectrag.programs.han_rag import HanRag
from aspectrag.programs.typed_rag import TypedRag
from aspectrag.signatures import AnswerFromPassages
from measure import interval, write

LATENCY = 0.2
PARTS = 5
# Classify, plan, the answers side by side, aggregate.
CRITICAL_CALLS = 4
HAN_PARTS = 4
# Route, decompose, all judgements side by side, the answers side by side, combine.
HAN_CRITICAL_CALLS = 5


PASSAGES = [Passage(str(n), f"Title {n}", "word " * 100, 1.0) for n in range(10)]


class Fixed:
    """A retriever that takes no time: the programs are measured, not the index."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """The same passages for every query."""
        return [PASSAGES[:k] for _ in queries]

    def __deepcopy__(self, memo: dict[int, object]) -> "Fixed":
        return self


def reply(call: ScriptedCall) -> dict[str, object]:
    """A REASON question with five parts, a compound one with four."""
    values = {
        "citations": [1],
        "type": "REASON",
        "queries": [f"Why {n}?" for n in range(PARTS)],
        "answer": "Because [1].",
        "route": "compound",
        "sub_questions": [f"What is {n}?" for n in range(HAN_PARTS)],
        "relevant": True,
    }
    return {name: values[name] for name in call.fields}


def seconds(work: Callable[..., Any], **inputs: Any) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    work(**inputs)
    return time.perf_counter() - started


def main() -> None:
    """Measure both and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    program = TypedRag(None, Fixed())

    with dspy.context(lm=scripted_lm(reply, latency=LATENCY)):
        program(question="warm up")
        ratios = [seconds(program, question=f"Why {n}?") / (CRITICAL_CALLS * LATENCY) for n in range(args.repeats)]

    han = HanRag(None, Fixed())
    with dspy.context(lm=scripted_lm(reply, latency=LATENCY)):
        han(question="warm up")
        han_path = HAN_CRITICAL_CALLS * LATENCY
        han_ratios = [seconds(han, question=f"What {n}?") / han_path for n in range(args.repeats)]

    bare = dspy.Predict(AnswerFromPassages)
    passages = ["word " * 100] * 5
    lm, calls = scripted_lm(reply), CRITICAL_CALLS - 1 + PARTS
    overheads = []
    with dspy.context(lm=lm):
        for n in range(args.repeats + 1):
            ours = seconds(program, question=f"Why {n}?") / calls
            theirs = sum(seconds(bare, question=f"Why {n} {m}?", passages=passages) for m in range(calls)) / calls
            overheads.append((ours - theirs) * 1000)
    write(
        "programs",
        {"latency_s": LATENCY, "parts": PARTS, "han_parts": HAN_PARTS, "repeats": args.repeats},
        [
            {"measure": "Typed-RAG, wall time / critical path", **interval(ratios), "required": "<= 1.15"},
            {"measure": "HANRAG compound, wall time / critical path", **interval(han_ratios), "required": "<= 1.15"},
            {"measure": "overhead per call, ms", **interval(overheads[1:]), "required": "< 5"},
        ],
    )


if __name__ == "__main__":
    main()
