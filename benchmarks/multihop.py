"""HANRAG beside the systems it is compared with: same questions, same passages, same language model.

    python benchmarks/multihop.py DATA --work runs/multihop        # hours; killed, it goes on where it was
    python benchmarks/multihop.py DATA --work runs/multihop --table

DATA holds a folder per set with ``dev.jsonl`` (questions with answers) and ``corpus.jsonl`` (passages). Every set has a
BM25 index over its own passages. The embedded model answers eight questions at once, without a cache; seconds are those
of a question among eight. Answers are brief, and no loop goes beyond five steps. On compound questions Acc is the
fraction of parts answered; EM and F1 compare with the joined answers. Intervals are bootstrap intervals of the mean.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
import ujson
from aspectrag.data.corpus import load_corpus
from aspectrag.data.growing import GrowingFile
from aspectrag.data.index import Index, build, open_index
from aspectrag.lms import load
from aspectrag.optimizers.metrics.accuracy import accuracy
from aspectrag.optimizers.metrics.compound_accuracy import compound_accuracy
from aspectrag.optimizers.metrics.exact_match import exact_match
from aspectrag.optimizers.metrics.f1 import f1
from aspectrag.programs.baselines.adaptive import Adaptive, AdaptiveConfig
from aspectrag.programs.baselines.direct import Direct
from aspectrag.programs.baselines.ircot import Ircot, IrcotConfig
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.blocks.citations import unmarked
from aspectrag.programs.config import AnswerConfig
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from aspectrag.programs.program import Program
from aspectrag.programs.trace import Trace, plain
from measure import mean_interval, write
from tqdm import tqdm

SETS = ("hotpotqa", "2wikimultihopqa", "musique", "compound", "nq")
MAX_STEPS = 5
METHODS: dict[str, Callable[[Index], Program]] = {
    "direct": lambda index: Direct(AnswerConfig(answers="brief"), index),
    "rag": lambda index: Rag(AnswerConfig(answers="brief"), index),
    "ircot": lambda index: Ircot(IrcotConfig(max_steps=MAX_STEPS), index),
    "adaptive": lambda index: Adaptive(AdaptiveConfig(max_steps=MAX_STEPS), index),
    "han": lambda index: HanRag(HanRagConfig(max_steps=MAX_STEPS), index),
    "han-together": lambda index: HanRag(HanRagConfig(max_steps=MAX_STEPS, judge="together"), index),
}
MEASURES = ("em", "f1", "acc", "steps", "lm_calls", "prompt_tokens", "seconds", "support_found", "support_kept")


def questions(data: Path, name: str, limit: int, seed: int) -> list[dict[str, Any]]:
    """A sample of a set, the same for every method."""
    lines = (data / name / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    return random.Random(seed).sample([ujson.loads(line) for line in lines], limit)


def index_of(data: Path, name: str, work: Path) -> Index:
    """The set's passages, each kept whole."""
    folder = work / "indexes" / name
    if folder.is_dir():
        return open_index(folder)
    return build(load_corpus([str(data / name / "corpus.jsonl")], record_words=None), folder, "bm25")


def answer(program: Program, question: dict[str, Any]) -> dict[str, Any]:
    """One question: what came out, what it scores, and what it cost."""
    started = time.perf_counter()
    try:
        out = program(question=question["question"])
    except Exception as error:  # a failed question is a result too: it scores nothing
        return {"id": question["id"], "error": f"{type(error).__name__}: {error}", "em": 0.0, "f1": 0.0, "acc": 0.0}
    seconds = time.perf_counter() - started
    said = unmarked(out.answer)
    parts = [part["answers"] for part in question["sub_questions"]] if question["dataset"] == "compound" else []
    return {
        "id": question["id"],
        "em": exact_match(said, question["answers"]),
        "f1": f1(said, question["answers"]),
        "acc": compound_accuracy(said, parts) if parts else accuracy(said, question["answers"]),
        "steps": out.steps,
        **{key: out.usage[key] for key in ("lm_calls", "prompt_tokens", "completion_tokens")},
        "seconds": seconds,
        **plain(out.toDict()),
        "trace": out.trace.to_dict(),
    }


def run(method: str, name: str, args: argparse.Namespace) -> None:
    """Answer the questions of a set by a method, those that are not yet answered."""
    file = args.work / "predictions" / method / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    answered = GrowingFile(file)
    done = {record["id"] for record in answered}
    left = [q for q in questions(args.data, name, args.limit, args.seed) if q["id"] not in done]
    if not left:
        return
    program = METHODS[method](index_of(args.data, name, args.work))
    with ThreadPoolExecutor(args.workers) as pool:
        for record in tqdm(pool.map(lambda q: answer(program, q), left), f"{method} {name}", len(left)):
            answered.add(record)


def support(record: dict[str, Any], gold: set[str]) -> dict[str, float]:
    """Of the passages that support the answer: which fraction was found, and which the result rests on."""
    steps = [step for top in Trace.from_dict(record["trace"]).steps for step in top.walk()] if "trace" in record else []
    found = {p["id"] for step in steps if step.kind == "retrieval" for passages in step.outputs for p in passages}
    kept = {p["id"] for p in record.get("passages", [])}
    return (
        {"support_found": len(gold & found) / len(gold), "support_kept": len(gold & kept) / len(gold)} if gold else {}
    )


def rows(args: argparse.Namespace) -> list[dict[str, Any]]:
    """A row per method and set, and one per method over all sets."""
    table = []
    gold = {
        q["id"]: set(q["supporting_ids"]) for s in args.sets for q in questions(args.data, s, args.limit, args.seed)
    }
    for name in [*args.sets, "all"]:
        for method in args.methods:
            sets = args.sets if name == "all" else [name]
            records = [r for s in sets for r in GrowingFile(args.work / "predictions" / method / f"{s}.jsonl")]
            if records:
                records = [{**r, **support(r, gold[r["id"]])} for r in records]
                cells = {m: mean_interval([r[m] for r in records if m in r]) for m in MEASURES}
                routes = dict(Counter(r.get("route", "failed") for r in records))
                table.append({"set": name, "method": method, "n": len(records), "routes": routes, **cells})
    return table


def options(about: str | None, sets: Sequence[str]) -> argparse.ArgumentParser:
    """What a script over samples of such sets can be told."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for predictions and indexes")
    parser.add_argument("--sets", nargs="+", default=list(sets))
    parser.add_argument("--limit", type=int, default=40, help="questions per set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--table", action="store_true", help="only the table of what was answered")
    return parser


def set_up(lm: dspy.LM) -> None:
    """Have a language model answer every question anew."""
    dspy.configure(lm=lm)  # and not a context: threads see this one
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)


def kept(lm: dspy.LM, args: argparse.Namespace) -> dict[str, Any]:
    """The settings that are kept with the results."""
    return {
        "model": lm.model, "limit": args.limit, "seed": args.seed, "workers": args.workers, "max_steps": MAX_STEPS,
    }  # fmt: skip


def main() -> None:
    """Run what is left, then print and keep the table."""
    parser = options(__doc__, SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    args = parser.parse_args()
    lm = load("embedded", max_tokens=300)
    if not args.table:
        set_up(lm)
        for method in args.methods:
            for name in args.sets:
                run(method, name, args)
    write("multihop", kept(lm, args), rows(args))


if __name__ == "__main__":
    main()
