"""The relevance judge of ANRAG, both ways: a call per passage, all at once, or one call for all ten passages.

    python benchmarks/relevance.py DATA --work runs/multihop

For questions of sets with annotated support (DATA as for ``multihop.py``), the ten passages that BM25 finds are judged
by the embedded model, both ways in turn for each batch of eight questions. A passage is relevant where the set says
that it supports the answer; in the sets passages that merely help are not marked, so precision is a lower bound.
Precision and recall are over all passages of all questions, with bootstrap intervals over questions.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
import numpy as np
from aspectrag.data.passages import Passage
from aspectrag.lms import load
from aspectrag.programs.blocks.anrag import JUDGES
from aspectrag.programs.trace import record
from measure import SEED, mean_interval, write
from multihop import index_of, questions
from tqdm import tqdm

SETS = ("hotpotqa", "2wikimultihopqa", "musique", "nq")
FOUND, BATCH = 10, 8


def judged(way: str, question: dict[str, Any], found: list[Passage]) -> dict[str, float]:
    """One question judged one way: what was kept, what of it is right, and what it cost."""
    signature, judge = JUDGES[way]
    predictor = dspy.Predict(signature)
    gold = set(question["supporting_ids"])
    started = time.perf_counter()
    with record() as trace:
        kept = judge("judge_relevance", predictor, 3, question["question"], found)
    return {
        "seconds": time.perf_counter() - started,
        "kept": len(kept),
        "hits": len(gold & {p.id for p in kept}),
        "there": len(gold & {p.id for p in found}),
        "tokens": trace.usage["prompt_tokens"],
        "calls": trace.usage["lm_calls"],
    }


def ratio(records: list[dict[str, float]], over: str) -> str:
    """Hits over all passages kept, or over all there, with its bootstrap interval."""
    hits, total = (np.array([r[key] for r in records]) for key in ("hits", over))
    draws = np.random.default_rng(SEED).integers(len(records), size=(2000, len(records)))
    low, high = np.percentile(hits[draws].sum(1) / np.maximum(1, total[draws].sum(1)), [2.5, 97.5])
    return f"{hits.sum() / max(1, total.sum()):.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    """Judge, print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for indexes")
    parser.add_argument("--limit", type=int, default=10, help="questions per set")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lm = load("embedded", max_tokens=300)
    dspy.configure(lm=lm)  # and not a context: threads see this one
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    items = []
    for name in SETS:
        asked = questions(args.data, name, args.limit, args.seed)
        found = index_of(args.data, name, args.work).search([q["question"] for q in asked], FOUND)
        items += zip(asked, found, strict=True)
    records: dict[str, list[dict[str, float]]] = {way: [] for way in JUDGES}
    with ThreadPoolExecutor(BATCH) as pool:
        for start in tqdm(range(0, len(items), BATCH), "batches"):
            for way, seen in records.items():
                seen += pool.map(lambda item, way=way: judged(way, *item), items[start : start + BATCH])
    write(
        "relevance",
        {"model": lm.model, "limit": args.limit, "seed": args.seed, "found": FOUND, "batch": BATCH, "sets": SETS},
        [
            {
                "judge": way, "n": len(seen), "precision": ratio(seen, "kept"), "recall": ratio(seen, "there"),
                **{key: mean_interval([r[key] for r in seen]) for key in ("kept", "calls", "tokens", "seconds")},
            }
            for way, seen in records.items()
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
