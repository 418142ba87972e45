"""What a trace costs: time per step, and memory over many questions.

    python benchmarks/tracing.py

Typed-RAG on a scripted model that answers at once, its five sub-questions side by side, is called alternately as it
always is, recorded, and without a recording, in one run: the difference, over the steps of a trace. Memory is what the
process holds more after all questions than after the first thousand, their results let go of; nothing is written.
"""

import argparse
import gc
import time
from pathlib import Path

import dspy
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.trace import record
from aspectrag.programs.typed_rag import TypedRag
from evaluation import Instant
from measure import interval, write
from tqdm import tqdm

EARLY = 1_000
REPLIES = {"type": "REASON", "queries": [f"Why {n}?" for n in range(5)], "answer": "Because [1].", "citations": [1]}


def alone(value: float) -> dict[str, float]:
    """A row of one value."""
    return {"median": round(value, 1), "n": 1}


def unrecorded(program: TypedRag, question: str) -> None:
    """The call without what :class:`.Program` puts around it."""
    with dspy.context(fallbacks=[]):
        dspy.Module.__call__(program, question=question)


def resident() -> float:
    """MiB that the process holds now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--questions", type=int, default=10_000)
    args = parser.parse_args()
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    program, overheads = TypedRag(None, Instant()), []
    lm = scripted_lm(REPLIES)
    # DSPy's own history and trace hold the last 10,000 calls of a process: they are not what is measured.
    with dspy.context(lm=lm, disable_history=True, trace=None):
        with record() as trace:
            program(question="warm up")
        steps = sum(1 for _ in trace.walk())
        for n in range(args.repeats):
            started = time.perf_counter()
            unrecorded(program, f"Why {n}?")
            between = time.perf_counter()
            program(question=f"Why {n}?")
            overheads.append((time.perf_counter() - between - (between - started)) * 1000 / steps)
        held = []
        for asked in tqdm(range(args.questions), "questions"):
            program(question=f"Why not {asked}?")
            lm.engine.calls.clear()
            if asked + 1 in (EARLY, args.questions):
                held.append(resident())
    write(
        "tracing",
        {"steps": steps, "repeats": args.repeats, "questions": args.questions},
        [
            {"measure": "a step of a trace, ms", **interval(overheads), "required": "< 1"},
            {"measure": f"MiB after {args.questions} questions, less those after {EARLY}", **alone(held[-1] - held[0])},
        ],
    )


if __name__ == "__main__":
    main()
