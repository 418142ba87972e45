"""The list-wise ranker: trained on questions with sub-answers, compared with orders that need no training.

    python benchmarks/ranker.py DATA --work runs/ranker        # killed, it goes on where it was

DATA holds a folder per set with ``tune.jsonl``, ``dev.jsonl`` (questions with sub-questions and their answers) and
``corpus.jsonl`` (passages). All sets share one hybrid index. The ranker learns from the tune files alone, a fifth of
which chooses the epoch; the table is of the dev files: DIV of the first ten passages, mean with a 95 % bootstrap
interval, and differences question by question (paired bootstrap). Aspects are those of the data. ``--save`` writes the
ranker where the package looks for its own: that of DPO where the held-out fifth says it gained, else that of SFT.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import ujson
from aspectrag.data.corpus import load_corpus
from aspectrag.data.faceted import load_faceted
from aspectrag.data.index import Index, SentenceEncoder, build, open_index
from aspectrag.data.index.hybrid import reciprocal_rank_fusion
from aspectrag.lms.artifacts import fetch
from aspectrag.optimizers.ranker.dpo import PreferenceRanker
from aspectrag.optimizers.ranker.examples import RankingExample, prepare
from aspectrag.optimizers.ranker.sft import SupervisedRanker, greedy
from aspectrag.optimizers.ranker.training import Report, Settings
from aspectrag.optimizers.ranker.us3 import Strategy
from aspectrag.programs.rankers.features import Vectors, features
from aspectrag.programs.rankers.network import Batch
from aspectrag.programs.rankers.pointer import SHIPPED, PointerRanker
from aspectrag.programs.rich_rag import RichRag, RichRagConfig
from measure import interval, mean_interval, write

SETS = ("freshwiki", "wikiasp", "asqa")
K = 10
STRATEGIES: tuple[Strategy, ...] = ("us3", "best-vs-worst", "all-pairs")
Orders = list[list[int]]


def index_of(data: Path, work: Path) -> Index:
    """All passages in one index, each kept whole."""
    folder = work / "index"
    if folder.is_dir():
        return open_index(folder)
    corpus = load_corpus([str(data / name / "corpus.jsonl") for name in SETS], record_words=None)
    return build(corpus, folder, "hybrid", encoder=str(fetch("encoder")), report=print)


def fusion(example: RankingExample) -> list[int]:
    """The pool by reciprocal rank fusion of the lists of all queries."""
    names = {name for candidate in example.pool for name in candidate.ranks}
    lists = [
        sorted((p for p, c in enumerate(example.pool) if name in c.ranks), key=lambda p: example.pool[p].ranks[name])
        for name in sorted(names)
    ]
    scores = reciprocal_rank_fusion(lists)
    return sorted(scores, key=lambda place: (-scores[place], place))


def similarity(example: RankingExample) -> list[int]:
    """The pool by cosine with the question."""
    given = example.features
    return np.argsort(-(given.passages @ given.question), kind="stable").tolist()


def length(example: RankingExample) -> list[int]:
    """The longest passages first: what recall of sub-answers favours, whatever they say."""
    return np.argsort(-example.features.lengths, kind="stable").tolist()


BASELINES: dict[str, Callable[[RankingExample], list[int]]] = {
    "retrieval": lambda example: list(range(len(example.pool))),
    "fusion": fusion,
    "similarity": similarity,
    "length": length,
}


def difference(better: Sequence[float], worse: Sequence[float]) -> str:
    """Mean of the paired differences with its 95 % bootstrap interval."""
    return mean_interval((np.asarray(better) - np.asarray(worse)).tolist())


@torch.inference_mode()
def expected(ranker: PointerRanker, examples: Sequence[RankingExample], count: int = 8) -> list[float]:
    """Mean reward of lists that the ranker draws at temperature 1, for each question: what DPO is to raise."""
    earned = []
    for place, example in enumerate(examples):
        k, batch = min(K, len(example.pool)), Batch([example.features] * count)
        lists = ranker.network.choose(batch, k, 1.0, torch.Generator().manual_seed(place)).tolist()
        earned.append(statistics.fmean(example.div(order, K) for order in lists))
    return earned


def latency(ranker: PointerRanker, examples: Sequence[RankingExample], index: Index) -> dict[str, Any]:
    """Milliseconds to rank 100 candidates whose passages are encoded, with and without encoding the queries.

    Pools of the data are smaller: each is filled up with candidates of other questions.
    """
    whole, alone = [], []
    over = ranker.over(index)
    for first in range(0, 500, 10):
        question, aspects = examples[first % len(examples)].example.question, examples[first % len(examples)].aspects
        met = {c.passage.id: c for n in range(20) for c in examples[(first + n) % len(examples)].pool}
        pool = list(met.values())[:100]
        seen = features(question, aspects, pool, over.vectors, index)  # its vectors are there now
        started = time.perf_counter()
        over.rank(question, aspects, pool, K)
        whole.append(1000 * (time.perf_counter() - started))
        with torch.inference_mode():
            started = time.perf_counter()
            ranker.network.choose(Batch([seen]), K)
            alone.append(1000 * (time.perf_counter() - started))
    return {"candidates": 100, "network_ms": interval(alone), "with_queries_encoded_ms": interval(whole)}


def main() -> None:
    """Train, compare, keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for the index and the trainings")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES), choices=STRATEGIES, help="of DPO")
    parser.add_argument("--save", action="store_true", help="make the better ranker the package's own")
    args = parser.parse_args()
    index = index_of(args.data, args.work)
    program = RichRag(RichRagConfig(k=K), index)
    train = load_faceted([args.data / name / "tune.jsonl" for name in SETS])
    vectors = Vectors(SentenceEncoder(fetch("encoder")))
    kept = args.work / "dev"
    sets = {
        name: prepare(
            program, load_faceted([args.data / name / "dev.jsonl"]), vectors, kept, explored=False, progress=True
        )
        for name in SETS
    }
    dev = [example for part in sets.values() for example in part]

    reports: dict[str, Report] = {}
    # A training that goes on after a kill takes only the rest of its time: the first, whole run counts.
    clock = args.work / "seconds.json"
    seconds: dict[str, float] = ujson.loads(clock.read_text(encoding="utf-8")) if clock.is_file() else {}
    rankers: dict[str, PointerRanker] = {}

    def train_one(name: str, trainer: SupervisedRanker | PreferenceRanker, start: RichRag) -> RichRag:
        begun = (trainer.folder / "pools").is_dir()
        started = time.perf_counter()
        trained = trainer.compile(start, trainset=train)
        if not begun:
            seconds[name] = round(time.perf_counter() - started, 1)
            clock.write_text(ujson.dumps(seconds), encoding="utf-8")
        assert trainer.report is not None
        assert isinstance(trained.ranker, PointerRanker)
        reports[name], rankers[name] = trainer.report, trained.ranker
        return trained

    supervised = train_one("sft", SupervisedRanker(args.work / "sft", settings=Settings(k=K, seed=args.seed)), program)
    for strategy in args.strategies:
        trainer = PreferenceRanker(args.work / f"dpo-{strategy}", strategy=strategy)
        trainer.settings = Settings(**{**trainer.settings.__dict__, "k": K, "seed": args.seed})
        train_one(f"dpo {strategy}", trainer, supervised)

    orders: dict[str, Orders] = {name: [order(example) for example in dev] for name, order in BASELINES.items()}
    orders |= {name: greedy(ranker.network, dev, K) for name, ranker in rankers.items()}
    scores = {name: [e.div(o, K) for e, o in zip(dev, given, strict=True)] for name, given in orders.items()}
    rows = []
    start = 0
    spans = {}
    for name, part in sets.items():
        spans[name] = slice(start, start := start + len(part))
    for name, values in scores.items():
        row: dict[str, Any] = {"order": name, "div@10": mean_interval(values)}
        row |= {part: mean_interval(values[span]) for part, span in spans.items()}
        against = BASELINES if name in rankers else ()
        row |= {f"over {other}": difference(values, scores[other]) for other in against}
        if name.startswith("dpo"):
            row["over sft"] = difference(values, scores["sft"])
        rows.append(row)
    earned = {name: expected(ranker, dev) for name, ranker in rankers.items()}
    for row in rows:
        if row["order"] in earned:
            row["mean reward of 8 drawn lists"] = mean_interval(earned[row["order"]])
            if row["order"] != "sft":
                row["reward over sft"] = difference(earned[row["order"]], earned["sft"])
    # By the held-out fifth of the tune files: never by what the table shows.
    best = "dpo us3" if "dpo us3" in reports and reports["dpo us3"].best else "sft"
    write(
        "ranker",
        {
            "k": K, "seed": args.seed, "train": reports["sft"].examples, "dev": {n: len(p) for n, p in sets.items()},
            "mean_pool": round(statistics.fmean(len(example.pool) for example in dev), 1),
            "seconds": seconds, "latency": latency(rankers[best], dev, index), "shipped": best,
            "reports": {
                name: {"before": r.before, "after": r.after, "best": r.best, "epochs": len(r.epochs), **r.notes}
                for name, r in reports.items()
            },
        },
        rows,
    )  # fmt: skip
    if args.save:
        rankers[best].save(SHIPPED)


if __name__ == "__main__":
    main()
