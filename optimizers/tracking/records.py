"""Configs and means as the flat parameters and metrics that MLflow has."""

import math
import re
from collections.abc import Mapping
from typing import Any

from ...programs.trace import plain
from ..compiling.report import Report
from ..evaluation.folder import dumped

_ENDS = {"mean": "", "low": ".low", "high": ".high", "p": ".p"}


def flat(record: Mapping[str, Any], within: str = "") -> dict[str, str]:
    """Nested settings by dotted names, as text; what is not set is left out.

    Example:
        >>> flat({"config": {"k": 5, "ranker": None}, "metrics": ["f1", "R@5"]})
        {'config.k': '5', 'metrics': '["f1","R@5"]'}
    """
    found: dict[str, str] = {}
    for key, value in record.items():
        name = named(f"{within}{key}")
        if isinstance(value, Mapping):
            found |= flat(value, f"{name}.")
        elif value is not None:
            found[name] = value if isinstance(value, str) else dumped(value)
    return found


def named(name: str) -> str:
    """A name with nothing in it that MLflow refuses.

    Example:
        >>> named("nDCG@10"), named("cost ($)")
        ('nDCG_at_10', 'cost ___')
    """
    return re.sub(r"[^\w./ :-]", "_", name.replace("@", "_at_"))


def run_params(config: Mapping[str, Any]) -> dict[str, str]:
    """The config of an evaluation."""
    return flat(plain(config))


def run_metrics(metrics: Mapping[str, Any]) -> dict[str, float]:
    """The means of an evaluation with the ends of their intervals, and how many questions were answered and failed."""
    found = {"answered": float(metrics["answered"]), "failed": float(len(metrics["failed"]))}
    for name, mean in metrics["metrics"].items():
        found |= _interval(name, mean)
    return _finite(found)


def compiled_params(report: Report) -> dict[str, str]:
    """What a program was compiled by, and from what."""
    names = ("target", "recipe", "optimizer", "metric", "kept", "why", "data", "arguments", "models", "examples")
    return flat(plain({name: getattr(report, name) for name in names}))


def compiled_metrics(report: Report) -> dict[str, float]:
    """Its scores before and after, with intervals, and what it took."""
    found = {f"spent.{named(name)}": float(value) for name, value in report.spent.items()}
    for name, measured in (("uncompiled", report.uncompiled), ("compiled", report.compiled)):
        found |= _interval(name, measured.score.to_dict())
        found |= {f"{name}.unreadable": measured.unreadable, f"{name}.failures": len(measured.failures)}
    return _finite(found | _interval("difference", report.difference.to_dict()))


def _interval(name: str, mean: Mapping[str, Any]) -> dict[str, float]:
    return {f"{named(name)}{end}": float(mean[key]) for key, end in _ENDS.items() if key in mean}


def _finite(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if math.isfinite(value)}
