"""Stages of the methods tuned for the embedded model, and what that gains on questions that no optimizer saw.

    python benchmarks/compile.py DATA --work runs/compile                      # hours; can be killed, and goes on
    python benchmarks/compile.py DATA --work runs/compile --recipes router     # one of them
    python benchmarks/compile.py DATA --work runs/compile --table

DATA holds a folder per benchmark with ``tune.jsonl``, from which examples are learnt and chosen by, and ``dev.jsonl``,
on which the stage is measured before and after. Each recipe is run as ``aspectrag compile`` runs it, with the optimizer
and arguments of the table below. Reports go to ``results/compile/``, one file each; ``--ship`` writes what was improved
where the package looks for it, all stages of a method in one program.
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

import ujson
from aspectrag.data.index.retriever import NoPassages
from aspectrag.lms import load
from aspectrag.optimizers.compiling.materials import materials, metric_of
from aspectrag.optimizers.compiling.recipes import Recipe, cook, recipe
from aspectrag.programs.compiled import ROOT, folder_of
from aspectrag.programs.registry import method
from aspectrag.programs.saved import read_manifest
from measure import RESULTS, machine, write

# What was run for each stage: the optimizer, and its arguments over those of the small budget.
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "router": ("labeled", {"k": 32}),
    "classifier": ("labeled", {"k": 32}),
    "ending": ("labeled", {"k": 16}),
    "relevance": ("labeled", {"k": 16}),
    "decomposer": ("labeled", {"k": 8}),
    "refiner": ("labeled", {"k": 12}),
}
REPORTS = RESULTS / "compile"


def tuned(chosen: Recipe, args: argparse.Namespace) -> None:
    """Run a recipe, unless it was; keep its report."""
    by, arguments = RUNS[chosen.name]
    out = args.work / chosen.name
    if not (out / "manifest.json").is_file():
        program = method(chosen.method)(None, NoPassages())
        sizes = chosen.size(args.budget)
        with materials(chosen.data, sizes, args.data, args.seed, lambda f: metric_of(chosen.metric, f)) as found:
            cook(
                chosen, program, found, out, optimizer=by, arguments=arguments, budget=args.budget,
                lm=load("embedded", max_tokens=200), seed=args.seed, keep="compiled",
            )  # fmt: skip
    report = ujson.loads((out / "report.json").read_text(encoding="utf-8"))
    for side in ("uncompiled", "compiled"):
        del report[side]["scores"]
    REPORTS.mkdir(exist_ok=True)
    text = ujson.dumps({"machine": machine(), **report}, indent=1, ensure_ascii=False)
    (REPORTS / f"{chosen.name}.json").write_text(text + "\n", encoding="utf-8")


def ship(args: argparse.Namespace) -> None:
    """Put the stages that tuning clearly improved into the package, one program per method."""
    model = load("embedded").model
    for name in dict.fromkeys(recipe(each).method for each in RUNS):
        program, stages = method(name)(None, NoPassages()), {}
        for chosen in (recipe(each) for each in RUNS if recipe(each).method == name):
            file = REPORTS / f"{chosen.name}.json"
            if chosen.stage and file.is_file() and ujson.loads(file.read_text())["difference"]["low"] > 0:
                program.adopt(args.work / chosen.name, [chosen.stage])
                stages[chosen.stage] = read_manifest(args.work / chosen.name)["meta"]["stages"][chosen.stage]
        folder = ROOT / name / folder_of(model)
        shutil.rmtree(folder, ignore_errors=True)
        if stages:
            program.save(folder, meta={"lm": model, "stages": stages})


def rows() -> list[dict[str, Any]]:
    """A row per stage."""
    table = []
    for name in RUNS:
        if not (file := REPORTS / f"{name}.json").is_file():
            continue
        report = ujson.loads(file.read_text(encoding="utf-8"))
        before, after = report["uncompiled"], report["compiled"]
        table.append({
            "stage": report["target"], "with": f"{report['optimizer']} {report['arguments']}",
            "metric": report["metric"], "n": report["examples"]["test"], "uncompiled": _mean(before["score"]),
            "compiled": _mean(after["score"]), "difference": _mean(report["difference"]),
            "macro-F1": f"{_mean(before['macro_f1'])} -> {_mean(after['macro_f1'])}" if after["macro_f1"] else "",
            "unreadable": f"{before['unreadable']} -> {after['unreadable']}",
        })  # fmt: skip
    return table


def _mean(mean: dict[str, float]) -> str:
    return f"{mean['mean']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]"


def main() -> None:
    """Run what is left, then print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for programs and answers")
    parser.add_argument("--recipes", nargs="+", default=list(RUNS), choices=list(RUNS))
    parser.add_argument("--budget", default="small")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="only the table of what was run")
    parser.add_argument("--ship", action="store_true", help="write what was improved into the package")
    args = parser.parse_args()
    if not args.table:
        for name in args.recipes:
            tuned(recipe(name), args)
    if args.ship:
        ship(args)
    write("compile", {"budget": args.budget, "seed": args.seed, "model": load("embedded").model}, rows())


if __name__ == "__main__":
    main()
