"""Retrieval speed of this package against bm25s and faiss used directly: same data, same run, interleaved.

Usage::

    python benchmarks/retrieval.py --corpus pool.jsonl.gz [--limit N] [--queries FILE ...] [--encoder DIR]

Both sides return passages. The direct side has weights, vectors and passages in memory, which is the fastest it can be;
ours has them memory-mapped, as it opens by default. Search is timed on the same tokens and the same vectors, and again
from the text of the query where that means something. A ratio is direct time over our time (above 1: ours is faster),
the geometric mean over rounds, with a bootstrap interval of 95 %.

Without ``--encoder`` the vectors are random ones of the same shape: the time of an exact scan does not depend on their
values. Peak memory and opening time are those of fresh processes.
"""

import argparse
import gc
import gzip
import json
import multiprocessing
import platform
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, cast

import bm25s
import numpy as np
import numpy.typing as npt
from aspectrag.data.index import Analyzer, EncoderIdentity, Index, SentenceEncoder, build, open_index
from aspectrag.data.index.bm25 import Bm25Index
from aspectrag.data.index.encoder import Encoder
from aspectrag.data.index.native import load_faiss
from aspectrag.data.index.store import PassageStore
from aspectrag.data.index.writing import BM25, PASSAGES, VECTORS
from aspectrag.data.passages import Passage
from measure import RESULTS, machine, save


class RandomEncoder:
    """Stands in for a model: random unit vectors of its shape; the same text gives the same vector."""

    def __init__(self, dimension: int, seed: int) -> None:
        self.identity = EncoderIdentity(f"random vectors of {dimension} dimensions", f"seed {seed}")
        self._dimension = dimension
        self._seed = seed

    def encode_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Random vectors."""
        return self.encode_passages(texts)

    def encode_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Random vectors."""
        seed = sum(map(len, texts)) + self._seed
        return np.random.default_rng(seed).normal(size=(len(texts), self._dimension)).astype(np.float32)


class Prepared:
    """Gives what was computed before, so that search alone is timed."""

    def __init__(self, identity: EncoderIdentity, values: dict[str, Any]) -> None:
        self.identity = identity
        self._values = values

    def tokens(self, text: str) -> list[str]:
        """As an analyzer."""
        return self._values[text]

    def encode_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """As an encoder."""
        return np.stack([self._values[text] for text in texts])

    def encode_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """As an encoder."""
        return self.encode_queries(texts)


def read_corpus(path: Path, limit: int | None) -> Iterator[Passage]:
    """Passages of a ``.jsonl`` or ``.jsonl.gz`` file with ``id``, ``title``, ``text``."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number == limit:
                return
            record = json.loads(line)
            yield Passage(str(record["id"]), record.get("title", ""), record["text"])


def read_queries(paths: Sequence[Path], passages: Sequence[Passage], count: int, seed: int) -> list[str]:
    """Questions of files (``question`` of JSON lines, or plain lines), else stretches of ten words from passages."""
    rng = random.Random(seed)
    if paths:
        lines = [line for path in paths for line in path.read_text(encoding="utf-8").split("\n")]
        questions = [json.loads(line)["question"] if line.startswith("{") else line for line in lines if line.strip()]
        return rng.sample(questions, min(count, len(questions)))
    queries: dict[str, None] = {}
    for passage in rng.sample(list(passages), min(count, len(passages))):
        words = passage.text.split()
        start = rng.randrange(max(1, len(words) - 10))
        queries[" ".join(words[start : start + 10])] = None
    return list(queries)


def compare(ours: Callable[[], Any], direct: Callable[[], Any], rounds: int, queries: int, seed: int) -> dict[str, Any]:
    """Time both, in turns; the order changes from round to round."""
    times: dict[str, list[float]] = {"ours": [], "direct": []}
    sides = [("ours", ours), ("direct", direct)]
    for _, run in sides:  # page in what is mapped, start thread pools
        run()
    for number in range(rounds):
        for name, run in sides if number % 2 else reversed(sides):
            begun = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begun)
    logs = np.log(np.array(times["direct"]) / np.array(times["ours"]))
    draws = np.random.default_rng(seed).choice(logs, size=(10_000, rounds)).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return {
        "ours_queries_per_second": queries / float(np.median(times["ours"])),
        "direct_queries_per_second": queries / float(np.median(times["direct"])),
        "ratio": float(np.exp(logs.mean())),
        "ratio_95": [float(np.exp(low)), float(np.exp(high))],
        "rounds": rounds,
    }


def in_fresh_process(function: Callable[..., float], *arguments: Any) -> dict[str, float]:
    """Seconds that a function reports, and the peak memory of a process that ran nothing else."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measured, function, arguments).result()


def _measured(function: Callable[..., float], arguments: tuple[Any, ...]) -> dict[str, float]:
    before = _peak_megabytes()
    seconds = function(*arguments)
    return {"seconds": seconds, "peak_mb": _peak_megabytes(), "imports_mb": before}


def _peak_megabytes() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent process held when it started this one
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def timed_build(corpus: Path, limit: int | None, folder: Path, kind: Any, encoder: Encoder | Path | None) -> float:
    """Build from the file, passages streamed."""
    begun = time.perf_counter()
    build(read_corpus(corpus, limit), folder, kind, encoder=encoder)
    return time.perf_counter() - begun


def timed_open(folder: Path, encoder: Encoder | Path | None) -> float:
    """Open and look at one passage."""
    open_index(folder, encoder)  # libraries are imported here, not timed
    begun = time.perf_counter()
    index = open_index(folder, encoder)
    next(iter(index))
    return time.perf_counter() - begun


def bm25_comparison(index: Index, passages: list[Passage], queries: list[str], options: argparse.Namespace) -> Any:
    """Our BM25 against bm25s on the same tokens."""
    analyzer = Analyzer()
    tokens = [analyzer.tokens(query) for query in queries]
    files = index.folder / index.manifest.generation
    prepared = cast(Analyzer, Prepared(EncoderIdentity("", ""), dict(zip(queries, tokens, strict=True))))
    ours = Bm25Index(PassageStore(files / PASSAGES), files / BM25, prepared)
    direct = bm25s.BM25.load(files / BM25)
    k, arguments = options.k, {"corpus": passages, "k": options.k, "show_progress": False}
    same = sum(
        {p.id for p in mine} == {p.id for p in theirs}
        for mine, theirs in zip(ours.search(queries, k), direct.retrieve(tokens, **arguments)[0], strict=True)
    )

    def with_tokens() -> Any:
        return direct.retrieve([analyzer.tokens(query) for query in queries], **arguments)

    size, seed, rounds = len(queries), options.seed, options.rounds
    return {
        "same_result_sets": same / size,
        "search": compare(
            lambda: ours.search(queries, k), lambda: direct.retrieve(tokens, **arguments), rounds, size, seed
        ),
        "search_from_text": compare(lambda: index.search(queries, k), with_tokens, rounds, size, seed),
    }


def dense_comparison(
    index: Index, passages: list[Passage], queries: list[str], encoder: Encoder, options: argparse.Namespace
) -> Any:
    """Our exact dense search against ``faiss.IndexFlatIP`` on the same vectors."""
    vectors = np.load(index.folder / index.manifest.generation / VECTORS)
    direct = load_faiss().IndexFlatIP(vectors.shape[1])
    direct.add(vectors)
    given = encoder.encode_queries(queries)
    wanted = given / np.linalg.norm(given, axis=1, keepdims=True)
    prepared = Prepared(encoder.identity, dict(zip(queries, wanted, strict=True)))
    ours = open_index(index.folder, prepared)
    k = options.k

    def passages_of(found: npt.NDArray[np.float32]) -> list[list[Passage]]:
        scores, rows = direct.search(found, k)
        return [
            [passages[row].with_score(score) for row, score in zip(*pair, strict=True)]
            for pair in zip(rows.tolist(), scores.tolist(), strict=True)
        ]

    def from_text() -> Any:
        found = encoder.encode_queries(queries)
        return passages_of(found / np.linalg.norm(found, axis=1, keepdims=True))

    pairs = zip(ours.search(queries, k), passages_of(wanted), strict=True)
    size, seed, rounds = len(queries), options.seed, options.rounds
    results = {
        "same_result_sets": sum({p.id for p in a} == {p.id for p in b} for a, b in pairs) / size,
        "search": compare(lambda: ours.search(queries, k), lambda: passages_of(wanted), rounds, size, seed),
    }
    if not isinstance(encoder, RandomEncoder):
        results["search_from_text"] = compare(lambda: index.search(queries, k), from_text, min(rounds, 5), size, seed)
    return results


def show(results: dict[str, Any]) -> None:
    """Print the table."""
    print(
        f"{results['passages']:,} passages, {results['queries']} queries, k {results['k']}; "
        f"vectors: {results['vectors']}"
    )
    print(f"\n{'':<24}{'ours q/s':>10}{'direct q/s':>12}{'ratio':>8}   95 % interval")
    for kind in ("bm25", "dense"):
        for name in ("search", "search_from_text"):
            if row := results[kind].get(name):
                low, high = row["ratio_95"]
                print(
                    f"{kind + ' ' + name.replace('_', ' '):<24}{row['ours_queries_per_second']:>10,.0f}"
                    f"{row['direct_queries_per_second']:>12,.0f}{row['ratio']:>8.2f}   {low:.2f} to {high:.2f}"
                )
    print(f"\n{'':<24}{'seconds':>10}{'peak MB':>12}{'of imports':>12}")
    for kind in ("bm25", "dense"):
        for name in ("build", "open"):
            row = results[kind][name]
            print(f"{kind + ' ' + name:<24}{row['seconds']:>10.2f}{row['peak_mb']:>12,.0f}{row['imports_mb']:>12,.0f}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True, help="jsonl or jsonl.gz with id, title, text")
    parser.add_argument("--limit", type=int, help="first passages only")
    parser.add_argument(
        "--queries", type=Path, nargs="*", default=[], help="JSON lines with 'question', or plain lines"
    )
    parser.add_argument("--encoder", type=Path, help="folder of a sentence-transformers model; random vectors without")
    parser.add_argument("--count", type=int, default=500, help="queries per batch")
    parser.add_argument("--k", type=int, default=5, help="passages per query; 5 is the default of the programs")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--dimension", type=int, default=384, help="of random vectors")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="retrieval", help=f"of the file in {RESULTS.name}/")
    return parser.parse_args()


def main() -> None:
    """Measure, print, and write the results."""
    options = arguments()
    passages = list(read_corpus(options.corpus, options.limit))
    queries = read_queries(options.queries, passages, options.count, options.seed)
    source: Any = options.encoder or RandomEncoder(options.dimension, options.seed)
    encoder: Encoder = SentenceEncoder(options.encoder) if options.encoder else source
    results: dict[str, Any] = {
        "machine": machine(),
        "seed": options.seed,
        "corpus": options.corpus.name,
        "passages": len(passages),
        "queries": len(queries),
        "query_source": ["/".join(path.parts[-2:]) for path in options.queries]
        or "stretches of ten words from passages",
        "k": options.k,
        "vectors": str(encoder.identity),
    }
    # The list of all passages is there for the direct side alone; ours must not pay for collecting around it.
    gc.freeze()
    with tempfile.TemporaryDirectory() as room:
        for kind in ("bm25", "dense"):
            folder, model = Path(room) / kind, None if kind == "bm25" else source
            built = in_fresh_process(timed_build, options.corpus, options.limit, folder, kind, model)
            opened = in_fresh_process(timed_open, folder, model)
            index = open_index(folder, None if kind == "bm25" else encoder)
            compared = (
                bm25_comparison(index, passages, queries, options)
                if kind == "bm25"
                else dense_comparison(index, passages, queries, encoder, options)
            )
            results[kind] = {"build": built, "open": opened, **compared}
    show(results)
    save(options.name, results)


if __name__ == "__main__":
    main()
