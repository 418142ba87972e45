"""Methods end to end on the embedded model, with stages that were tuned and without them.

    python benchmarks/compiled.py DATA --work runs/compiled            # an hour; can be killed, and goes on
    python benchmarks/compiled.py DATA --work runs/compiled --table

DATA holds a folder per set with ``dev.jsonl`` and ``corpus.jsonl``. HANRAG is asked ten questions each of four sets,
Typed-RAG forty of Wiki-NFQA; every set has a BM25 index over its own passages, and the embedded model does all,
judging included. HANRAG has the demos that ship for its stages; the stage of Typed-RAG that came out better is its
classifier, and as weights of a small model (``revelator.py``; with such, HANRAG is asked by ``steering.py``). ``acc``
of compound questions is the fraction of their parts. Both sides are runs as those of ``aspectrag eval``, whose tables
and traces stay in the work folder; differences are those of the same question.
"""

import argparse
from pathlib import Path
from typing import Any

import dspy
from aspectrag.data.benchmarks.loading import load as load_benchmark
from aspectrag.data.index import Index
from aspectrag.lms import adapters, load
from aspectrag.optimizers.evaluation.evaluation import evaluate
from aspectrag.optimizers.evaluation.run import Run
from aspectrag.optimizers.evaluation.statistics import difference_of, mean_of
from aspectrag.programs.compiled import adopt_shipped
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from aspectrag.programs.program import Program
from aspectrag.programs.typed_rag import TypedRag
from measure import write
from multihop import MAX_STEPS, index_of, kept

SIDES = ("uncompiled", "compiled")
COST = ("steps", "lm_calls", "tokens")
SHORT = ("em", "f1", "acc", *COST)
SETS: dict[str, dict[str, tuple[str, ...]]] = {
    "han": {"hotpotqa": SHORT, "musique": SHORT, "nq": SHORT, "compound": ("compound_acc", *COST)},
    "typed": {"wiki_nfqa": ("linkage", "rougeL", *COST)},
}


def han(index: Index, lm: dspy.LM) -> tuple[Program, Program]:
    """HANRAG, and with the demos that ship for its stages."""
    plain, compiled = (HanRag(HanRagConfig(max_steps=MAX_STEPS), index) for _ in SIDES)
    adopt_shipped(compiled, "han", lm)
    return plain, compiled


def typed(index: Index, _: dspy.LM) -> tuple[Program, Program]:
    """Typed-RAG, and with the weights that ship for its classifier."""
    plain, compiled = (TypedRag(None, index) for _ in SIDES)
    compiled.classify.lm = load(adapters("revelator")["classifier"])
    return plain, compiled


PROGRAMS = {"han": han, "typed": typed}


def run(method: str, name: str, limit: int, lm: dspy.LM, args: argparse.Namespace) -> None:
    """Ask both sides the questions of a set, unless they were."""
    asked = load_benchmark(name.replace("_", "-"), "dev", store=args.data, limit=limit, seed=args.seed)
    sides = PROGRAMS[method](index_of(args.data, name, args.work), lm)
    evaluate(
        dict(zip(SIDES, sides, strict=True)), asked.questions, args.work / method / name,
        metrics=SETS[method][name], lm=lm, categories=asked.benchmark.categories, workers=args.workers,
    )  # fmt: skip


def answered(method: str, name: str, args: argparse.Namespace) -> list[tuple[dict[str, float], dict[str, float]]]:
    """What each question of a set scored on either side; nothing where it was not asked."""
    if not (folder := args.work / method / name).is_dir():
        return []
    before, after = ({each.id: each.scores for each in Run(folder / side).scored()} for side in SIDES)
    return [(_one_name(before[id]), _one_name(after[id])) for id in before]


def _one_name(scores: dict[str, float]) -> dict[str, float]:
    return {column.replace("compound_", ""): score for column, score in scores.items()}


def rows(args: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each method, set and column, and for all sets of a method that has several."""
    table = []
    for method, sets in SETS.items():
        parts = {name: answered(method, name, args) for name in sets}
        if len(sets) > 1:
            parts["all"] = [both for part in parts.values() for both in part]
        for part, both in parts.items():
            for column in sorted({column for before, after in both for column in before.keys() & after.keys()}):
                pairs = [(old[column], new[column]) for old, new in both if column in old and column in new]
                before, after = zip(*pairs, strict=True)
                change = difference_of(after, before)
                table.append({
                    "method": method, "set": part, "metric": column, "n": len(pairs),
                    "uncompiled": str(mean_of(before)), "compiled": str(mean_of(after)),
                    "difference": change.signed(), "p": change.p_text(),
                })  # fmt: skip
    return table


def main() -> None:
    """Run what is left, then print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for indexes and runs")
    parser.add_argument("--limit", type=int, default=40, help="questions per method")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--table", action="store_true", help="only the table of what was answered")
    args = parser.parse_args()
    lm = load("embedded", max_tokens=300)
    if not args.table:
        for method, sets in SETS.items():
            for name in sets:
                run(method, name, args.limit // len(sets), lm, args)
    write("compiled", kept(lm, args), rows(args))


if __name__ == "__main__":
    main()
