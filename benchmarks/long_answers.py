"""RichRAG with each of its rankers beside its baselines: same questions, same passages, same language model.

    python benchmarks/long_answers.py DATA --index runs/ranker/index --work runs/long    # hours; can be killed
    python benchmarks/long_answers.py DATA --index runs/ranker/index --work runs/long --alone 3  # seconds; when quiet
    python benchmarks/long_answers.py DATA --index runs/ranker/index --work runs/long --table

DATA holds a folder per set with ``dev.jsonl`` (questions with long answers and sub-answers) and ``corpus.jsonl``. The
index is that of ``benchmarks/ranker.py``. The embedded model answers eight questions at once, without a cache. Aspects
are explored once per question, and their cost is counted in every row that uses them. DIV is that of the passages read,
whose sub-answers the ``oracle`` alone knows. Answers stay in the work folder; what they score is kept in
``results/long_answers.jsonl``, and is not computed again.

What is answered over hours, among others, says nothing of speed. So seconds are taken apart, of fewer questions, one at
a time and by every method in turn, and kept in ``results/long_answers_seconds.jsonl``.
"""

import argparse
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
from aspectrag.data.faceted import load_faceted
from aspectrag.data.growing import GrowingFile
from aspectrag.data.index import Index, open_index
from aspectrag.data.passages import Passage
from aspectrag.lms import load
from aspectrag.optimizers.metrics.com_rouge import com_rouge
from aspectrag.optimizers.metrics.div import div
from aspectrag.optimizers.metrics.rouge import VARIANTS, rouge
from aspectrag.optimizers.ranker.coverage import coverage_scores
from aspectrag.optimizers.ranker.oracle import CoverageRanker
from aspectrag.programs.baselines.direct import Direct
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.blocks.citations import unmarked
from aspectrag.programs.config import AnswerConfig
from aspectrag.programs.program import Program
from aspectrag.programs.rich_rag import RichRag, RichRagConfig
from aspectrag.programs.trace import record
from measure import RESULTS, mean_interval, write
from tqdm import tqdm

SETS = ("asqa", "freshwiki")
METHODS = ("direct", "rag", *(f"rich {name}" for name in ("pointer", "retrieval", "similarity", "lm", "oracle")))
K, MAX_TOKENS = 5, 200
QUALITY = ("rouge1", "rouge2", "rougeL", "com_rouge1", "com_rouge2", "com_rougeL")
USAGE = ("lm_calls", "prompt_tokens", "completion_tokens")
MEASURES = (*QUALITY, "div", "citations", *USAGE)
SCORES, SECONDS = RESULTS / "long_answers.jsonl", RESULTS / "long_answers_seconds.jsonl"


def sample(data: Path, name: str, limit: int, seed: int) -> list[dspy.Example]:
    """The questions of a set, the same for every method."""
    return random.Random(seed).sample(load_faceted([data / name / "dev.jsonl"]), limit)


def program_of(method: str, pool: int, index: Index, questions: list[dspy.Example]) -> Program:
    """The program of a row; all read the same number of passages."""
    if method == "direct":
        return Direct(AnswerConfig())
    if method == "rag":
        return Rag(AnswerConfig(k=K), index)
    ranker: Any = method.removeprefix("rich ")
    if ranker == "oracle":
        knows = CoverageRanker({question.question: question.sub_answers for question in questions})
        return RichRag(RichRagConfig(k=K, pool=pool), index, knows)
    return RichRag(RichRagConfig(k=K, pool=pool, ranker=ranker), index)


def explored(program: RichRag) -> Callable[[dspy.Example], dict[str, Any]]:
    """Finds the aspects of a question, and what they cost."""

    def explore(question: dspy.Example) -> dict[str, Any]:
        with record(program) as trace:
            aspects = program.explored(question.question)
        return {"id": question.id, "aspects": aspects, **{key: trace.usage[key] for key in USAGE}}

    return explore


def answered(program: Program, question: dspy.Example, pool: list[Passage], known: dict[str, Any]) -> dict[str, Any]:
    """One question: what came out, what it scores, and what it cost."""
    rich = isinstance(program, RichRag)
    try:
        out = program(question=question.question, **({"aspects": known["aspects"]} if rich else {}))
    except Exception as error:  # a failed question is a result too: it scores nothing
        return {"id": question.id, "error": f"{type(error).__name__}: {error}", **dict.fromkeys(QUALITY, 0.0)}
    said = unmarked(out.answer)
    references = question.answers or [" ".join(question.sub_answers)]
    return {
        "id": question.id,
        **{variant: rouge(said, references, variant) for variant in VARIANTS},
        **{f"com_{variant}": com_rouge(said, question.sub_answers, variant) for variant in VARIANTS},
        **covered(question, pool, out.passages),
        **{key: out.usage[key] + (known[key] if rich else 0) for key in USAGE},
        "citations": len(out.citations),
        "answer": out.answer,
        "fallbacks": [f"{fallback.stage}: {fallback.reason}" for fallback in out.fallbacks],
    }


def covered(question: dspy.Example, pool: list[Passage], read: list[Passage]) -> dict[str, float]:
    """DIV of the passages that were read, against the best list of the pool that all rankers are given."""
    if not read:
        return {}
    union = list({passage.id: passage for passage in [*pool, *read]}.values())
    places = {passage.id: place for place, passage in enumerate(union)}
    scores = coverage_scores(question.sub_answers, [passage.contents for passage in union])
    return {"div": div(scores, [places[passage.id] for passage in read], K)}


def timed(programs: dict[str, Program], sets: dict[str, list[dspy.Example]]) -> None:
    """The seconds of every question by every method, one at a time; what is known is not taken again."""
    seconds = GrowingFile(SECONDS)
    done = {(r["set"], r["id"], r["method"]) for r in seconds}
    for name, questions in sets.items():
        for question in tqdm(questions, f"seconds {name}"):
            for method, program in programs.items():
                if (name, question.id, method) not in done:
                    started = time.perf_counter()
                    program(question=question.question)
                    took = round(time.perf_counter() - started, 1)
                    seconds.add({"set": name, "id": question.id, "method": method, "seconds": took})


def run(
    file: Path, questions: list[dspy.Example], workers: int, work: Callable[[dspy.Example], dict[str, Any]], about: str
) -> list[dict[str, Any]]:
    """The records of the questions in the order they were given in; each goes to the file as soon as it is made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    kept, made = GrowingFile(file), []
    with ThreadPoolExecutor(workers) as pool:
        for record in tqdm(pool.map(work, questions), about, len(questions)):
            made.append(record)
            kept.add(record)
    return made


def rows() -> list[dict[str, Any]]:
    """A row per method and set, and one per method over all sets."""
    table = []
    scores, seconds = list(GrowingFile(SCORES)), list(GrowingFile(SECONDS))
    for name in [*SETS, "all"]:
        for method in METHODS:
            records = [r for r in scores if r["method"] == method and name in (r["set"], "all")]
            if records:
                cells = {m: mean_interval([r[m] for r in records if m in r]) for m in MEASURES}
                failed = sum("error" in r for r in records)
                took = [r["seconds"] for r in seconds if r["method"] == method and name in (r["set"], "all")]
                cells |= {"seconds": mean_interval(took), "timed": len(took)}
                table.append({"set": name, "method": method, "n": len(records), "failed": failed, **cells})
    return table


def answer_all(
    method: str, program: Program, name: str, questions: list[dspy.Example], explorer: RichRag, args: argparse.Namespace
) -> None:
    """Answer what has no score yet, eight questions at once."""
    scores = GrowingFile(SCORES)  # one for all threads
    done = {r["id"] for r in scores if (r["method"], r["set"]) == (method, name)}
    left = [question for question in questions if question.id not in done]
    file = args.work / "aspects" / f"{name}.jsonl"
    known = {record["id"]: record for record in GrowingFile(file)}
    new = [question for question in left if question.id not in known]
    known |= {r["id"]: r for r in run(file, new, args.workers, explored(explorer), f"aspects {name}")}

    def work(question: dspy.Example) -> dict[str, Any]:
        pool = explorer.pool(question.question, known[question.id]["aspects"])
        record = answered(program, question, [candidate.passage for candidate in pool], known[question.id])
        numbers = {key: value for key, value in record.items() if key not in ("answer", "fallbacks")}
        scores.add({"set": name, "method": method, **numbers})
        return record

    run(args.work / method.replace(" ", "-") / f"{name}.jsonl", left, args.workers, work, f"{method} {name}")


def main() -> None:
    """Run what is left, then print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--index", type=Path, required=True, help="folder of the index that all sets share")
    parser.add_argument("--work", type=Path, required=True, help="folder for predictions")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--limit", type=int, default=20, help="questions per set")
    parser.add_argument("--pool", type=int, default=20, help="passages that are ranked")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--alone", type=int, metavar="N", help="only the seconds, of N questions per set")
    parser.add_argument("--table", action="store_true", help="only the table of what was answered")
    args = parser.parse_args()
    lm = load("embedded", max_tokens=MAX_TOKENS)
    if not args.table:
        dspy.configure(lm=lm)  # and not a context: threads see this one
        dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
        index = open_index(args.index)
        sets = {name: sample(args.data, name, args.limit, args.seed) for name in SETS}
        explorer = RichRag(RichRagConfig(k=K, pool=args.pool), index)
        asked = [question for questions in sets.values() for question in questions]
        programs = {method: program_of(method, args.pool, index, asked) for method in args.methods}
        if args.alone:
            lm("Say yes.")  # loads the model
            timed(programs, {name: questions[: args.alone] for name, questions in sets.items()})
        else:
            for method, program in programs.items():
                for name, questions in sets.items():
                    answer_all(method, program, name, questions, explorer, args)
    settings = {name: getattr(args, name) for name in ("limit", "pool", "seed", "workers")}
    write("long_answers", {"model": lm.model, "k": K, "max_tokens": MAX_TOKENS, **settings}, rows())


if __name__ == "__main__":
    main()
