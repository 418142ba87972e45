"""Stages of the methods tuned for the embedded model, and what that gains on questions that no optimizer saw.

    python benchmarks/compile.py DATA --work runs/compile                      # hours; can be killed, and goes on
    python benchmarks/compile.py DATA --work runs/compile --recipes router     # one of them
    python benchmarks/compile.py DATA --work runs/compile --table

DATA holds a folder per benchmark with ``tune.jsonl``, from which examples are learnt and chosen by, and ``dev.jsonl``,
on which the stage is measured before and after. Each recipe is run as ``aspectrag compile`` runs it, with each of the
optimizers of the table below. Reports go to ``results/compile/``, one file each. ``--ship`` writes what was improved
where the package looks for it, all stages of a method in one program: of each stage what scored best on the examples
to choose by, if on those it is measured on the interval of its gain is above 0.
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

import dspy
import ujson
from aspectrag.data.index.retriever import NoPassages
from aspectrag.lms import load
from aspectrag.optimizers.compiling.materials import Materials, materials, metric_of
from aspectrag.optimizers.compiling.measuring import measure
from aspectrag.optimizers.compiling.optimizing import NothingChangedError
from aspectrag.optimizers.compiling.recipes import Recipe, cook, recipe
from aspectrag.optimizers.compiling.students import Meter, StageStudent
from aspectrag.programs.compiled import ROOT, folder_of
from aspectrag.programs.program import Program
from aspectrag.programs.registry import method
from aspectrag.programs.saved import read_manifest
from measure import RESULTS, machine, write

# What is run for each stage: optimizers, and their arguments over those of the small budget.
RUNS: dict[str, dict[str, dict[str, Any]]] = {
    "router": {"labeled": {"k": 32}, "random-search": {"max_labeled_demos": 24}, "mipro": {}},
    "classifier": {"labeled": {"k": 32}, "random-search": {"max_labeled_demos": 24}, "mipro": {}},
    "ending": {"labeled": {"k": 16}, "random-search": {}, "mipro": {}},
    "relevance": {"labeled": {"k": 16}, "random-search": {}, "mipro": {}},
    "decomposer": {"labeled": {"k": 8}, "bootstrap": {}},
    "refiner": {"labeled": {"k": 12}, "bootstrap": {}},
}
OPTIMIZERS = tuple(dict.fromkeys(by for runs in RUNS.values() for by in runs))
REPORTS = RESULTS / "compile"


def tuned(chosen: Recipe, by: str, args: argparse.Namespace) -> None:
    """Run a recipe with an optimizer, unless it was; keep its report."""
    for folder in (args.work, REPORTS):
        folder.mkdir(parents=True, exist_ok=True)
    name = f"{chosen.name}.{by}.json"
    if not (args.work / name).is_file():
        text = ujson.dumps(tried(chosen, by, args), indent=1, ensure_ascii=False, escape_forward_slashes=False)
        (args.work / name).write_text(text + "\n", encoding="utf-8")
    shutil.copyfile(args.work / name, REPORTS / name)


def tried(chosen: Recipe, by: str, args: argparse.Namespace) -> dict[str, Any]:
    """The report of a recipe run with an optimizer."""
    program = method(chosen.method)(None, NoPassages())
    lm, out, arguments = load("embedded", max_tokens=200), args.work / f"{chosen.name}.{by}", RUNS[chosen.name][by]
    sizes = chosen.size(args.budget)
    with materials(chosen.data, sizes, args.data, args.seed, lambda f: metric_of(chosen.metric, f)) as found:
        try:
            compiled = cook(
                chosen, program, found, out, optimizer=by, arguments=arguments, budget=args.budget, lm=lm,
                seed=args.seed, keep="compiled",
            )  # fmt: skip
        except NothingChangedError as error:
            nothing = {"target": chosen.target, "optimizer": by, "arguments": arguments, "nothing": str(error)}
            return {"machine": machine(), **nothing}
        report = compiled.report.to_dict()
        for side in ("uncompiled", "compiled"):
            del report[side]["scores"]
        chosen_from = chosen_by(compiled.program, chosen, found, lm)
    return {"machine": machine(), **report, "chosen_by": chosen_from}


def chosen_by(program: Program, chosen: Recipe, found: Materials, lm: dspy.LM) -> float:
    """What a compiled stage scores on the examples to choose by."""
    meter = Meter()
    student = StageStudent(program, [str(chosen.stage)], meter)
    with dspy.context(lm=lm):
        return measure(student, found.val, found.metric, meter, 8, "examples to choose by", True).score.mean


def reports(name: str) -> dict[str, dict[str, Any]]:
    """The reports there are of a recipe, by optimizer."""
    files = {by: REPORTS / f"{name}.{by}.json" for by in RUNS[name]}
    return {by: ujson.loads(file.read_text(encoding="utf-8")) for by, file in files.items() if file.is_file()}


def best(name: str) -> str | None:
    """The optimizer whose program scored best on the examples to choose by."""
    scores = {by: report["chosen_by"] for by, report in reports(name).items() if "chosen_by" in report}
    return max(scores, key=lambda by: scores[by]) if scores else None


def ship(args: argparse.Namespace) -> None:
    """Put the stages that tuning clearly improved into the package, one program per method."""
    model = load("embedded").model
    for name in dict.fromkeys(recipe(each).method for each in RUNS):
        program, stages = method(name)(None, NoPassages()), {}
        for chosen in (recipe(each) for each in RUNS if recipe(each).method == name):
            by = best(chosen.name)
            if by and reports(chosen.name)[by]["difference"]["low"] > 0:
                folder, stage = args.work / f"{chosen.name}.{by}", str(chosen.stage)
                program.adopt(folder, [stage])
                stages[stage] = read_manifest(folder)["meta"]["stages"][stage]
        folder = ROOT / name / folder_of(model)
        shutil.rmtree(folder, ignore_errors=True)
        if stages:
            program.save(folder, meta={"lm": model, "stages": stages})


def rows() -> list[dict[str, Any]]:
    """A row for each stage and optimizer."""
    table = []
    for name in RUNS:
        for by, report in reports(name).items():
            row = {"stage": report["target"], "with": f"{by} {report['arguments']}"}
            if "nothing" in report:
                table.append({**row, "difference": report["nothing"]})
                continue
            before, after = report["uncompiled"], report["compiled"]
            table.append({
                **row, "metric": report["metric"], "n": report["examples"]["test"],
                "chosen by": f"{report['chosen_by']:.3f}{' (best)' if by == best(name) else ''}",
                "uncompiled": _mean(before["score"]), "compiled": _mean(after["score"]),
                "difference": _mean(report["difference"]),
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
    parser.add_argument("--optimizers", nargs="+", default=list(OPTIMIZERS), choices=list(OPTIMIZERS))
    parser.add_argument("--budget", default="small")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="only the table of what was run")
    parser.add_argument("--ship", action="store_true", help="write what was improved into the package")
    args = parser.parse_args()
    if not args.table:
        for by in args.optimizers:
            for name in args.recipes:
                if by in RUNS[name]:
                    tuned(recipe(name), by, args)
    if args.ship:
        ship(args)
    write("compile", {"budget": args.budget, "seed": args.seed, "model": load("embedded").model}, rows())


if __name__ == "__main__":
    main()
