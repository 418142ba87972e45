"""A run as it lies in its folder: questions, answers and, once it is scored, the scores."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import dspy
import ujson

from ...data.growing import GrowingFile
from ...errors import AspectragError
from ...programs.trace import Trace
from .folder import digest_of, read_config, read_json, trace_name
from .statistics import Mean

# The category, and its value, of all questions.
ALL = "all"
# What records of answers and of scores cannot do without.
_RECORD, _SCORED = {"id", "error", "answer", "usage", "cost", "seconds"}, ("id", "scores", "categories", "error")


@dataclass(frozen=True)
class Scored:
    """What one question scored.

    Attributes:
        id: Of the question.
        scores: By column; columns that do not apply to the question are not there.
        categories: The question's values of the benchmark's categories, as text.
        error: Why it failed; ``None`` where it was answered.
    """

    id: str
    scores: dict[str, float]
    categories: dict[str, str] = field(default_factory=dict)
    error: str | None = None


class Run:
    """A run, finished or not.

    Args:
        path: Its folder.

    Raises:
        AspectragError: The folder holds none.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data.benchmarks import load
        >>> from aspectrag.optimizers.evaluation import evaluate
        >>> from aspectrag.programs import Direct
        >>> lm, demo = lms.scripted_lm({"answer": "Nobody."}), load("demo", limit=2).questions
        >>> with TemporaryDirectory() as folder:
        ...     _ = evaluate({"direct": Direct()}, demo, folder, metrics=["em"], lm=lm, progress=False)
        ...     run = Run(f"{folder}/direct")
        ...     len(run.scored())
        2
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path = Path(path)
        self.config = read_config(path)
        self.manifest = read_json(path / "manifest.json")

    @property
    def name(self) -> str:
        """The name of its method's folder, with that of the folder around it."""
        return f"{self.path.resolve().parent.name}/{self.path.resolve().name}"

    @cached_property
    def questions(self) -> list[dspy.Example]:
        """What is asked, in order.

        Raises:
            AspectragError: The file is not what the run was begun with.
        """
        try:
            lines = (self.path / "questions.jsonl").read_text(encoding="utf-8").split("\n")
            asked = [dspy.Example(**ujson.loads(line)).with_inputs("question") for line in lines if line]
            if digest_of(asked) != self.manifest.get("questions"):
                raise ValueError("it was changed")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise AspectragError(
                f"{self.path}/questions.jsonl is not what the run was begun with ({error}): run into a new folder"
            ) from None
        return asked

    def answers(self) -> Iterator[tuple[dspy.Example, dict[str, Any]]]:
        """Questions with their records, in the order of the questions; those not asked yet are left out.

        A question that was asked again counts as it ended last.
        """
        # Offsets and not records: ten thousand answers with their passages need not be in memory at once.
        places = self._places()
        with (self.path / "predictions.jsonl").open("rb") as file:
            for question in self.questions:
                if question.id in places:
                    file.seek(places[question.id])
                    yield question, json.loads(file.readline())

    def _places(self) -> dict[str, int]:
        places, place = {}, 0
        try:
            with (self.path / "predictions.jsonl").open("rb") as file:
                for line in file:
                    if not line.endswith(b"\n"):  # a kill cut it short
                        break
                    record = json.loads(line)
                    if not isinstance(record, dict) or not record.keys() >= _RECORD:
                        raise ValueError("a line is no record of an answer")
                    places[record["id"]] = place
                    place += len(line)
        except FileNotFoundError:
            raise AspectragError(f"{self.path}: no question was answered yet: run 'aspectrag eval' again") from None
        except (ValueError, TypeError) as error:
            raise AspectragError(f"{self.path}/predictions.jsonl is damaged ({error}): remove the folder") from None
        return places

    def trace(self, id: str) -> Trace | None:
        """Every step of a question; ``None`` where it was not kept.

        Raises:
            AspectragError: It cannot be read.
        """
        file = self.path / "traces" / trace_name(id)
        return Trace.load(file) if file.is_file() else None

    @property
    def is_scored(self) -> bool:
        """Whether scores were written down."""
        return (self.path / "scores.jsonl").is_file()

    def scored(self) -> list[Scored]:
        """What each question scored.

        Raises:
            AspectragError: The run is not scored yet.
        """
        if not self.is_scored:
            raise AspectragError(f"{self.path} is not finished: run the same 'aspectrag eval' again")
        try:
            scored = [_scored(record) for record in GrowingFile(self.path / "scores.jsonl", _SCORED)]
        except (ValueError, TypeError, AttributeError) as error:
            raise AspectragError(
                f"{self.path}/scores.jsonl is damaged ({error}): run the same 'aspectrag eval' again"
            ) from None
        if len(scored) != self.metrics.get("answered", 0) + len(self.metrics.get("failed", ())):
            raise AspectragError(f"{self.path}/scores.jsonl is not whole: run the same 'aspectrag eval' again")
        return scored

    @property
    def unpriced(self) -> bool:
        """Whether cost was asked for, and no price is known of the model."""
        return "cost" in (self.config.get("metrics") or ()) and "cost" not in self.metrics["metrics"]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form: its folder, what ``metrics.json`` holds, and the means by category."""
        rows = [
            {"category": category, "value": value, "metric": column, **mean.to_dict()}
            for (category, value, column), mean in self.means().items()
            if category != ALL
        ]
        return {"run": str(self.path), **self.metrics, "by_category": rows}

    def _repr_html_(self) -> str:
        """Its tables, in notebooks."""
        from .tables import runs_html  # it knows this class

        return runs_html([self], self.name)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The content of ``metrics.json``."""
        return read_json(self.path / "metrics.json")

    def means(self) -> dict[tuple[str, str, str], Mean]:
        """The means as they were written down, by category, value and column; those over all questions come first.

        Raises:
            AspectragError: The tables cannot be read.
        """
        file = self.path / "metrics.json"
        try:
            found = {(ALL, ALL, name): Mean(**mean) for name, mean in self.metrics["metrics"].items()}
            file = self.path / "by_category.csv"
            with file.open(encoding="utf-8", newline="") as rows:
                for row in csv.DictReader(rows):
                    mean = Mean(float(row["mean"]), float(row["low"]), float(row["high"]), int(row["n"]))
                    found.setdefault((row["category"], row["value"], row["metric"]), mean)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise AspectragError(f"{file} cannot be read ({error}): run the same 'aspectrag eval' again") from None
        return found


def _scored(record: dict[str, Any]) -> Scored:
    scores, error = record["scores"], record["error"]
    categories = {str(name): str(value) for name, value in record["categories"].items()}
    return Scored(record["id"], {str(name): float(score) for name, score in scores.items()}, categories, error)


class Runs(list[Run]):
    """Runs that a notebook shows side by side."""

    def _repr_html_(self) -> str:
        from .tables import runs_html  # it knows this class

        return runs_html(self, ", ".join(run.name for run in self))


def runs_of(path: str | Path) -> Runs:
    """The runs that a folder is or holds, in the order of their names.

    Raises:
        AspectragError: There is none.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data.benchmarks import load
        >>> from aspectrag.optimizers.evaluation import evaluate
        >>> from aspectrag.programs import Direct
        >>> lm, demo = lms.scripted_lm({"answer": "Nobody."}), load("demo", limit=2).questions
        >>> with TemporaryDirectory() as folder:
        ...     _ = evaluate({"direct": Direct()}, demo, folder, metrics=["em"], lm=lm, progress=False)
        ...     len(runs_of(folder))
        1
    """
    path = Path(path)
    found = [path] if (path / "manifest.json").is_file() else sorted(p.parent for p in path.glob("*/manifest.json"))
    if not found:
        raise AspectragError(f"{path} holds no run: give a folder that 'aspectrag eval' made")
    return Runs(Run(folder) for folder in found)
