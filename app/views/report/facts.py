"""What was run: the configs and manifests of runs, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....errors import AspectragError
from ....optimizers.evaluation.run import Run


@dataclass(frozen=True)
class Fact:
    """A line about the runs.

    Attributes:
        label: What it is about.
        values: Of each run; one only where all have the same.
    """

    label: str
    values: tuple[str, ...]


def names_of(runs: Sequence[Run]) -> list[str]:
    """What the runs are called on the page: their folder, with as much of the path as tells them apart.

    Raises:
        AspectragError: The same run is there twice.
    """
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise AspectragError("the same run is given twice: give each one once")
    forms = [run.path.name for run in runs], [run.name for run in runs], [str(run.path.resolve()) for run in runs]
    return next(form for form in forms if len(set(form)) == len(runs))


def facts(runs: Sequence[Run]) -> list[Fact]:
    """Everything that a reader needs to judge the numbers, or to repeat them; what no run says is left out."""
    lines = [_facts(run) for run in runs]
    found = []
    for label in lines[0]:
        values = tuple(line[label] for line in lines)
        if any(values):
            found.append(Fact(label, values[:1] if len(set(values)) == 1 else values))
    return found


def _facts(run: Run) -> dict[str, str]:
    config, manifest = run.config, run.manifest
    config = {name: said(value) for name, value in config.items()}
    sample = f", a sample of at most {config['limit']} with seed {config.get('seed')}" if config.get("limit") else ""
    return {
        "benchmark": config.get("benchmark", ""),
        "split": config.get("split", ""),
        "questions": f"{run.metrics['questions']}{sample}",
        "source": config.get("source", ""),
        "method": config.get("class", "") or config.get("method", ""),
        "settings": config.get("config", ""),
        "prompts": config.get("prompts", ""),
        "compiled stages": config.get("compiled_stages", ""),
        "passages": config.get("passages", ""),
        "ranker": config.get("ranker", ""),
        "language model": config.get("lm", ""),
        "language models of stages": config.get("roles", ""),
        "judge": config.get("judge", ""),
        "versions": said(manifest.get("versions")),
        "machine": said({**(manifest.get("machine") or {}), "system": manifest.get("system")}),
        "started": said(manifest.get("started")),
        "finished": said(manifest.get("finished")),
    }


def said(value: Any) -> str:
    """A value of a config in words.

    Example:
        >>> said({"retriever": "bm25", "count": 172, "encoder": None})
        'retriever bm25, count 172'
    """
    if isinstance(value, Mapping):
        parts = {name: text for name, part in value.items() if (text := said(part))}
        return ", ".join(text if name == "model" else f"{name} {text}" for name, text in parts.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(said, value))
    return "" if value is None else str(value)
