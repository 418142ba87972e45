"""Small tuned models for the stages that steer a question: how long they learn, how well they decide, how fast.

    python benchmarks/revelator.py DATA --work runs/revelator                    # train and measure all skills
    python benchmarks/revelator.py DATA --work runs/revelator --skills router    # one of them
    python benchmarks/revelator.py DATA --work runs/revelator --ship             # put the adapters into the package
    python benchmarks/revelator.py DATA --work runs/revelator --table

DATA holds a folder per benchmark with ``tune.jsonl``, which is learnt from, and ``dev.jsonl``, which is measured on.
All are trained by one ``aspectrag train revelator``, whose minutes and memory are told; killed, the same command goes
on, and tells those of what was left, beside the minutes of learning of all. What ``benchmarks/compile.py`` measured of
the embedded model stands beside it, on the first of the same examples. Out of distribution are the package's own
labelled examples, which no benchmark holds, and for the router bamboogle, all complex, and asqa, all single-step.
Results go to ``results/revelator/``, one file for each skill, and ``results/revelator.json``.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import ujson
from aspectrag.data.benchmarks.loading import load as load_benchmark
from aspectrag.data.construction.revelator import route_of
from aspectrag.data.index.retriever import NoPassages
from aspectrag.lms import load
from aspectrag.lms.local.card import read_card, write_card
from aspectrag.optimizers.compiling.materials import materials, metric_of
from aspectrag.optimizers.compiling.recipes import recipe
from aspectrag.optimizers.compiling.students import Meter, StageStudent
from aspectrag.optimizers.metrics.stages import label_of
from aspectrag.optimizers.tuning.measuring import scored as measured_skill
from aspectrag.optimizers.tuning.skills import SKILLS, predictor_of, stage_of
from aspectrag.programs.compiled import ROOT
from aspectrag.programs.registry import method
from compile import best
from compile import reports as of_embedded
from measure import RESULTS, interval, machine, mean_interval, save, write

REPORTS = RESULTS / "revelator"
# Examples to measure on, beside the whole dev file of the classifier.
MEASURED = {"classifier": 400, "router": 520, "relevance": 600, "ending": 600, "decomposer": 195, "refiner": 300}
UNLIKE = ("bamboogle", "asqa")
# Whose choices are timed.
TIMED = ("router", "classifier")
OWN = Path(__file__).parents[1] / "data" / "demo" / "examples"


def train(args: argparse.Namespace) -> None:
    """Train the skills, unless they were: in one process, so that its memory and seconds are those of all of them."""
    report = args.work / "training.json"
    if report.is_file() and set(args.skills) <= set(ujson.loads(report.read_text())["skills"]):
        return
    options = {"--data": args.data, "--out": args.work, "--minutes": args.minutes}
    given = [*(f"{name}={value}" for name, value in options.items()), *(f"--skills={skill}" for skill in args.skills)]
    command = [sys.executable, "-m", "aspectrag.app", "train", "revelator", *given]
    started = time.perf_counter()
    _, status, used = os.wait4(subprocess.Popen(command).pid, 0)
    if status:
        raise SystemExit("training failed; the same command goes on")
    took = {"skills": args.skills, "peak_gib": round(used.ru_maxrss / 2**20, 2),
            "minutes": round((time.perf_counter() - started) / 60, 1)}  # fmt: skip
    report.write_text(ujson.dumps(took))


def trained(skill: str, args: argparse.Namespace) -> dict[str, Any]:
    """What training took: of this skill, and in all."""
    card = read_card(args.work / skill)
    size = (args.work / skill / "adapter_model.safetensors").stat().st_size
    together = ujson.loads((args.work / "training.json").read_text())
    learning = sum(read_card(args.work / each).training["seconds"] for each in together["skills"])
    return {
        **card.training,
        "together": {**together, "learning_minutes": round(learning / 60, 1)},
        "megabytes": round(size / 1e6, 2),
        "thresholds": dict(card.thresholds),
    }


def scored(skill: str, lm: dspy.LM, examples: list[dspy.Example], metric: Any) -> dict[str, Any]:
    """What the skill scores on examples, asked as its method asks it."""
    started = time.perf_counter()
    found = measured_skill(skill, lm, examples, metric)
    seconds = time.perf_counter() - started
    kept: dict[str, Any] = {
        "n": len(examples), "score": mean_interval(list(found.scores)), "unreadable": found.unreadable,
        "seconds_each": round(seconds / len(examples), 3),
    }  # fmt: skip
    if found.macro_f1 and found.classification:
        kept["macro_f1"] = "{:.3f} [{:.3f}, {:.3f}]".format(*vars(found.macro_f1).values())
        kept["classification"] = found.classification.to_dict()
    if skill == "decomposer":
        whole = [
            float(score == 1) for score, each in zip(found.scores, examples, strict=True) if len(each.sub_questions) > 1
        ]
        kept["split_exactly"] = mean_interval(whole)
    return kept


def measured(skill: str, args: argparse.Namespace) -> dict[str, Any]:
    """A skill on dev, and on what is unlike anything that it learnt."""
    lm = load(f"local/{args.work / skill}", cache=False)
    chosen = recipe(skill)
    data = {key: value for key, value in chosen.data.items() if key != "examples"}

    def on(test: int, part: dict[str, Any]) -> dict[str, Any]:
        with materials(part, (1, 1, test), args.data, 0, lambda found: metric_of(chosen.metric, found)) as found:
            return scored(skill, lm, found.test, found.metric)

    results = {"dev": on(MEASURED[skill], data)}
    if skill == "classifier":
        results["dev, all"] = on(10_000, {key: value for key, value in data.items() if key != "balance"})
    if skill in ("classifier", "router", "relevance", "ending"):
        (output,) = predictor_of(skill).signature.output_fields
        results["own examples"] = scored(skill, lm, _own(skill, output), label_of(output))
    if skill == "router":
        for name in UNLIKE:
            asked = [(q, route_of(q)) for q in load_benchmark(name, "dev", store=args.data).questions]
            examples = [dspy.Example(question=q.question, route=route).with_inputs("question") for q, route in asked]
            results[name] = scored(skill, lm, examples, label_of("route"))
    return results


def _own(skill: str, output: str) -> list[dspy.Example]:
    records = map(ujson.loads, (OWN / f"{skill}.jsonl").read_text(encoding="utf-8").splitlines())
    return [dspy.Example(record).with_inputs(*(name for name in record if name != output)) for record in records]


def latency(args: argparse.Namespace) -> dict[str, Any]:
    """Seconds of one choice on a question of 60 tokens with nothing else going on; and where the adapter changes."""
    lms = {skill: load(f"local/{args.work / skill}", cache=False) for skill in TIMED}
    words = (
        "which of the two rivers that meet below the old town carries more water in a dry year and why does the other "
    )
    question = (words * 3).strip()
    stages = {skill: predictor_of(skill) for skill in lms}

    def asked(skill: str, number: int) -> float:
        name, stage = stage_of(skill)
        student = StageStudent(method(name)(None, NoPassages()), [stage], Meter())
        with dspy.context(lm=lms[skill]):
            started = time.perf_counter()
            student(question=f"{number} {question}"[:280])
            return time.perf_counter() - started

    for skill in stages:
        asked(skill, 0)
    alone = [asked(TIMED[0], number) for number in range(1, 31)]
    turns = [asked(TIMED[number % 2], number) for number in range(31, 61)]
    return {"one choice": interval(alone), "one choice, another adapter each time": interval(turns)}


def ship(args: argparse.Namespace) -> None:
    """Put adapters and cards into the package."""
    for skill in args.skills:
        source, target = args.work / skill, ROOT / "revelator" / skill
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for file in ("adapter_config.json", "adapter_model.safetensors", "card.json"):
            shutil.copy(source / file, target)
        results = ujson.loads((REPORTS / f"{skill}.json").read_text(encoding="utf-8"))["results"]
        card = read_card(target)
        scores = {part: {key: value for key, value in each.items() if key in ("n", "score", "macro_f1")}
                  for part, each in results.items()}  # fmt: skip
        training = {key: value for key, value in card.training.items() if key != "digest"}
        write_card(target, replace(card, scores=scores, training=training))


def rows() -> list[dict[str, Any]]:
    """A row for each skill and set."""
    table = []
    for skill in SKILLS:
        if not (file := REPORTS / f"{skill}.json").is_file():
            continue
        report = ujson.loads(file.read_text(encoding="utf-8"))
        before = of_embedded(skill).get(best(skill) or "", {})
        for part, each in report["results"].items():
            beside = (
                {f"embedded, {side}": _of(before, side) for side in ("uncompiled", "compiled")} if part == "dev" else {}
            )
            table.append({
                "skill": skill, "on": part, "n": each["n"], "metric": report["metric"], "small model": each["score"],
                "macro-F1": each.get("macro_f1", ""), "weighted F1": _weighted(each),
                "exactly": each.get("split_exactly", ""), **beside, "s each": each["seconds_each"],
            })  # fmt: skip
    return table


def _weighted(result: dict[str, Any]) -> str:
    """F1 of the classes, each as often as it is there."""
    classes = result.get("classification", {}).get("classes", {}).values()
    known = sum(each["support"] for each in classes)
    return f"{sum(each['f1'] * each['support'] for each in classes) / known:.3f}" if known else ""


def _of(report: dict[str, Any], side: str) -> str:
    if side not in report:
        return ""
    return "{mean:.3f} [{low:.3f}, {high:.3f}]".format(**report[side]["score"]) + f" (n {report['examples']['test']})"


def main() -> None:
    """Train and measure what is left, then print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for the adapters")
    parser.add_argument("--skills", nargs="+", default=list(SKILLS), choices=SKILLS)
    parser.add_argument("--minutes", type=float, default=85, help="most minutes of training, in all")
    parser.add_argument("--table", action="store_true", help="only the table of what was measured")
    parser.add_argument("--ship", action="store_true", help="put the adapters into the package")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    REPORTS.mkdir(exist_ok=True)
    if not args.table:
        train(args)
        for skill in args.skills:
            training = trained(skill, args)
            report = {"machine": machine(), "skill": skill, "metric": recipe(skill).metric, "training": training,
                      "results": measured(skill, args)}  # fmt: skip
            save(f"revelator/{skill}", report)
        if all((args.work / skill).is_dir() for skill in TIMED):
            save("revelator_latency", {"machine": machine(), "seconds": latency(args)})
    if args.ship:
        ship(args)
    write("revelator", {"base": "smollm2"}, rows())


if __name__ == "__main__":
    main()
