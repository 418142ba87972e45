"""HANRAG steered by the embedded model, and by small models that were tuned for it: same questions, same passages.

    python benchmarks/steering.py DATA --work runs/steering                       # hours; killed, it goes on
    python benchmarks/steering.py DATA --work runs/steering --profile runs/revelator
    python benchmarks/steering.py DATA --work runs/steering --table

DATA is as for ``multihop.py``, whose questions and measures these are. Stages on the embedded model
are the ones that ship tuned for it. The sides take turns, a few questions each, so that a machine which others use too
is as fast for the one as for the other; seconds are those of a question among eight. Differences are those of the same
question, with their bootstrap interval.
"""

import argparse
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
from aspectrag.data.growing import GrowingFile
from aspectrag.lms import adapters, load, roles
from aspectrag.programs.compiled import adopt_shipped
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from aspectrag.programs.steering import steered
from aspectrag.programs.trace import Trace
from measure import mean_interval, write
from multihop import MAX_STEPS, answer, index_of, kept, options, questions, set_up, support
from tqdm import tqdm

SETS = ("hotpotqa", "musique", "compound", "nq")
SIDES = ("embedded", "profile")
MEASURES = ("acc", "f1", "steps", "lm_calls", "main_tokens", "seconds", "support_found", "support_kept")


def run(name: str, args: argparse.Namespace) -> None:
    """Answer the questions of a set that are not yet answered, by either side in turns."""
    index = index_of(args.data, name, args.work)
    programs = {side: HanRag(HanRagConfig(max_steps=MAX_STEPS), index) for side in SIDES}
    own = {"embedded": {}, "profile": roles(steered([programs["profile"]], adapters(args.profile)))}
    for side, program in programs.items():
        adopt_shipped(program, "han", dspy.settings.lm, own[side])
    files = {side: GrowingFile(file_of(side, name, args)) for side in SIDES}
    done = {side: {record["id"] for record in files[side]} for side in SIDES}
    asked = questions(args.data, name, args.limit, args.seed)
    turns = [(side, asked[at : at + args.workers]) for at in range(0, len(asked), args.workers) for side in SIDES]
    with ThreadPoolExecutor(args.workers) as pool:
        for side, some in tqdm(turns, name):

            def ask(question: dict[str, Any], side: str = side) -> dict[str, Any]:
                with dspy.context(roles=own[side]):
                    return answer(programs[side], question)

            for record in pool.map(ask, [question for question in some if question["id"] not in done[side]]):
                files[side].add(record)


def file_of(side: str, name: str, args: argparse.Namespace) -> Path:
    """Where the answers of a side are kept."""
    folder = args.work / "predictions" / (side if side == "embedded" else args.profile.replace("/", "-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.jsonl"


def records(side: str, name: str, args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """What a side answered, by question, with the tokens of the model that writes."""
    gold = {q["id"]: set(q["supporting_ids"]) for q in questions(args.data, name, args.limit, args.seed)}
    found = {}
    for record in GrowingFile(file_of(side, name, args)):
        if record["id"] not in gold:  # of another sample
            continue
        if "trace" in record:
            spent = Trace.from_dict(record["trace"]).usage_by_model()
            tokens = [each["total_tokens"] for model, each in spent.items() if model.startswith("embedded/")]
            record = {**record, **support(record, gold[record["id"]]), "main_tokens": sum(tokens)}
        found[record["id"]] = record
    return found


def rows(args: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each side and one for their difference, of every set and of all."""
    answered = {side: {name: records(side, name, args) for name in args.sets} for side in SIDES}
    table = []
    for name in [*args.sets, "all"]:
        parts = [part for part in args.sets if name in (part, "all")]
        sides = {side: {key: each for part in parts for key, each in answered[side][part].items()} for side in SIDES}
        both = sides["embedded"].keys() & sides["profile"].keys()
        for side, found in sides.items():
            chosen = [found[key] for key in sorted(both)]
            routes = dict(Counter(each.get("route", "failed") for each in chosen))
            cells = {m: mean_interval([each[m] for each in chosen if m in each]) for m in MEASURES}
            table.append({"set": name, "steered by": side, "n": len(both), "routes": routes, **cells})
        pairs = [(sides["embedded"][key], sides["profile"][key]) for key in sorted(both)]
        change = {m: mean_interval([b[m] - a[m] for a, b in pairs if m in a and m in b]) for m in MEASURES}
        table.append({"set": name, "steered by": "difference", "n": len(both), **change})
    return table


def main() -> None:
    """Run what is left, then print and keep the table."""
    parser = options(__doc__, SETS)
    parser.add_argument("--profile", default="revelator", help="or a folder of trained adapters")
    args = parser.parse_args()
    lm = load("embedded", max_tokens=300)
    if not args.table:
        set_up(lm)
        for name in args.sets:
            run(name, args)
    write("steering", kept(lm, args), rows(args))


if __name__ == "__main__":
    main()
