"""What commands that ask a benchmark's questions share: where the passages are from, and what a run says of itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..data.benchmarks.loading import QuestionSet
from ..data.growing import write_passages
from ..data.index import Index
from ..data.index.fingerprint import corpus_hash
from ..data.passages import Passage
from ..errors import AspectragError
from ..home import home
from .corpora import index_of

# What answers took is part of every table: a better answer at ten times the price is another matter.
SPENT = ("steps", "lm_calls", "prompt_tokens", "completion_tokens", "cost", "seconds")


def benchmark_index(
    asked: Sequence[QuestionSet], corpus: list[Path] | None, index: Path | None, kind: str, encoder: str | None
) -> Index:
    """The index that questions are asked of: the user's, or one of the user's or the benchmarks' passages.

    Raises:
        AspectragError: There are no passages, they cannot be used, or both are given.
    """
    if index and corpus:
        raise AspectragError("--index and --corpus exclude each other: an index has its passages already")
    files = [] if index else corpus or list(dict.fromkeys(map(_corpus_file, asked)))
    return index_of(index, files, kind, encoder, progress=True, whole_records=True)


def about(asked: QuestionSet, limit: int | None, seed: int) -> dict[str, Any]:
    """What the config of a run says of its questions."""
    return {
        "benchmark": asked.benchmark.name, "split": asked.split, "source": asked.source, "limit": limit, "seed": seed,
        "questions": len(asked),
    }  # fmt: skip


def _corpus_file(asked: QuestionSet) -> Path:
    """A file of the benchmark's passages, or of those that came with its questions, written down once.

    Raises:
        AspectragError: There are none.
    """
    if isinstance(asked.corpus, Path):
        return asked.corpus
    if not asked.corpus:
        raise AspectragError(
            f"{asked.benchmark.name} brings no passages ({asked.benchmark.corpus}): "
            "give --corpus FILES or --index FOLDER"
        )
    return _written(asked.corpus)


def _written(passages: tuple[Passage, ...]) -> Path:
    file = home() / "corpora" / f"{corpus_hash(passages)[:16]}.jsonl"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_passages(file, passages)
    return file
