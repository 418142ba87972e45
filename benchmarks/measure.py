"""What all benchmark scripts share: intervals, the machine, a table and a JSON file."""

import datetime as dt
import importlib.metadata
import os
import platform
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import ujson
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
LIBRARIES = (
    "dspy", "bm25s", "PyStemmer", "faiss-cpu", "sentence-transformers", "torch", "openvino-genai", "numpy"
)  # fmt: skip
# What the speed of language models hangs on, where processors of very different ages have one name.
VECTORS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8")
SEED = 0


def interval(values: list[float]) -> dict[str, Any]:
    """Median with the 95 % bootstrap interval of the median.

    Args:
        values: One per repetition.
    """
    sample = np.asarray(values, dtype=float)
    rng = np.random.default_rng(SEED)
    medians = np.median(rng.choice(sample, size=(2000, len(sample))), axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return {
        "median": round(statistics.median(values), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "n": len(values),
    }


def mean_interval(values: list[float]) -> str:
    """Mean with its 95 % bootstrap interval, as ``mean [low, high]``; empty where there is no value."""
    if not values:
        return ""
    sample = np.asarray(values, dtype=float)
    means = np.random.default_rng(SEED).choice(sample, size=(2000, len(sample))).mean(axis=1)
    digits = 1 if sample.mean() >= 100 else 3
    return "{:.{d}f} [{:.{d}f}, {:.{d}f}]".format(sample.mean(), *np.percentile(means, [2.5, 97.5]), d=digits)


def machine() -> dict[str, Any]:
    """Processor, its vector instructions, cores, versions and the day."""
    lines = (line.partition(":") for line in _lines("/proc/cpuinfo"))
    about = {name.strip(): value.strip() for name, _, value in lines}
    flags = about.get("flags", "").split()
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "cpu": about.get("model name", platform.processor()),
        "vectors": [flag for flag in VECTORS if flag in flags],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "libraries": versions,
        "date": dt.date.today().isoformat(),
    }


def write(name: str, settings: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Print the rows as a table and keep them in ``results/NAME.json``."""
    table = Table(title=name, title_justify="left")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(str(row.get(column, "")) for column in columns))
    Console(width=140).print(table)
    save(name, {"machine": machine(), "seed": SEED, "settings": settings, "rows": rows})


def save(name: str, record: dict[str, Any]) -> None:
    """Keep a record in ``results/NAME.json``."""
    RESULTS.mkdir(exist_ok=True)
    text = ujson.dumps(record, indent=2, ensure_ascii=False, escape_forward_slashes=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
