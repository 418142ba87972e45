"""The folder of a run: one method, one set of questions, everything that is needed to repeat it and to look into it.

::

    config.yaml         what was asked of whom, secrets masked
    manifest.json       versions, machine, times, counts
    questions.jsonl     the questions, with what is known about each
    predictions.jsonl   one line per question, written when it is answered; a failure has its own field
    traces/             every step of every question
    judgements.jsonl    what the judge said, verdict by verdict, where metrics ask one
    scores.jsonl        what each question scored
    metrics.json, by_category.csv, run.trec
"""

import datetime as dt
import hashlib
import importlib.metadata
import os
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy
import ujson
import yaml

from ... import __version__
from ...data.growing import GrowingFile
from ...errors import AspectragError
from ...programs.trace import Trace, plain, verbatim
from ...whole import write

FORMAT_VERSION = 1
_LIBRARIES = ("dspy", "bm25s", "faiss-cpu", "sentence-transformers", "torch", "openvino-genai", "numpy", "litellm")
# What may differ when a run goes on: it changes how fast answers come and how they are scored, not which they are.
# Of limit, seed and source the questions themselves tell.
_FREE = {"workers", "metrics", "judge", "limit", "seed", "source"}
_FIRST = {"questions.jsonl", "config.yaml", "manifest.json"}


class RunFolder:
    """A run that is being made.

    Args:
        path: The folder; made where it is missing.
        config: What the run is: two runs with equal ones give the same answers.
        questions: What is asked.

    Raises:
        AspectragError: It holds a run with another config or other questions, or something else.
    """

    def __init__(self, path: Path, config: Mapping[str, Any], questions: Sequence[dspy.Example]) -> None:
        self.path = path
        self.config: dict[str, Any] = plain(dict(config))
        path.mkdir(parents=True, exist_ok=True)
        digest = digest_of(questions)
        if (self.path / "manifest.json").is_file():
            self._compare(digest)
            self._write_config()  # with the metrics and the judge of this time
        else:
            # A kill may have come before the manifest.
            if any(file.name.removesuffix(".part") not in _FIRST for file in self.path.iterdir()):
                raise AspectragError(f"{self.path} holds other files: give a new folder as --out")
            write(self.path / "questions.jsonl", "".join(f"{dumped(question.toDict())}\n" for question in questions))
            self._write_config()
            # Last of all: a folder with a manifest has the rest too.
            self.update({"format": FORMAT_VERSION, "questions": digest, "started": now(), **surroundings()})
        (self.path / "traces").mkdir(exist_ok=True)
        self._predictions = GrowingFile(self.path / "predictions.jsonl", ("id", "error"))
        self.answered = {record["id"] for record in self._predictions if record["error"] is None}

    def _write_config(self) -> None:
        write(self.path / "config.yaml", yaml.safe_dump(self.config, sort_keys=False, allow_unicode=True))

    def _compare(self, digest: str) -> None:
        manifest = read_json(self.path / "manifest.json")
        if manifest.get("format") != FORMAT_VERSION:
            raise AspectragError(f"{self.path}: its format is {manifest.get('format')!r}, not {FORMAT_VERSION}")
        before = read_config(self.path)
        keys = [key for key in before.keys() | self.config.keys() if key not in _FREE]
        differs = sorted(key for key in keys if before.get(key) != self.config.get(key))
        if differs:
            was, now = before.get(differs[0]), self.config.get(differs[0])
            raise AspectragError(
                f"{self.path} holds a run with another {differs[0]} ({was!r}, not {now!r})"
                + (f", and {', '.join(differs[1:])}" if differs[1:] else "")
                + ": give another --out, or remove it"
            )
        if manifest.get("questions") != digest:
            raise AspectragError(f"{self.path} holds a run over other questions: give another --out, or remove it")

    def add(self, record: Mapping[str, Any], trace: Trace) -> None:
        """Keep the answer to a question, its trace first.

        Raises:
            OSError: It cannot be written; then the question counts as not asked.
        """
        # Its secrets are masked already.
        text = ujson.dumps(trace.to_dict(), ensure_ascii=False, escape_forward_slashes=False)
        write(self.path / "traces" / trace_name(record["id"]), text + "\n")
        self._predictions.add(dict(record))
        if record["error"] is None:
            self.answered.add(record["id"])

    def update(self, entries: Mapping[str, Any]) -> None:
        """Put entries into the manifest."""
        file = self.path / "manifest.json"
        manifest = read_json(file) if file.is_file() else {}
        write(file, dumped({**manifest, **entries}, indent=2) + "\n")


def read_config(folder: Path) -> dict[str, Any]:
    """The config of a run.

    Raises:
        AspectragError: There is none that can be read.
    """
    try:
        config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("its config.yaml holds no settings")
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise AspectragError(f"{folder} holds no run ({reason}): give a folder that 'aspectrag eval' made") from None
    return config


def read_json(file: Path, otherwise: str = "run 'aspectrag eval' into a new folder") -> dict[str, Any]:
    """A JSON object out of a file of a run, or of another folder of ours.

    Args:
        file: What is read.
        otherwise: What to do where it cannot be.

    Raises:
        AspectragError: There is none that can be read.
    """
    try:
        record = ujson.loads(file.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it holds no object")
    except (OSError, ValueError) as error:
        raise AspectragError(f"{file} cannot be read ({error}): {otherwise}") from None
    return record


def trace_name(id: str) -> str:
    """The file of a question's trace: its id where that can be a name, else made one by a digest.

    Example:
        >>> trace_name("demo:q01"), len(trace_name("../" * 100))
        ('demo_q01-3f9d495e.json', 63)
    """
    readable = re.sub(r"[^\w.-]+", "_", id)[:52].strip(".")
    return f"{readable}-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.json"


def digest_of(questions: Sequence[dspy.Example]) -> str:
    """SHA-256 of questions with all that is known about them, in their order."""
    sha = hashlib.sha256()
    for question in questions:
        sha.update(dumped(question.toDict()).encode("utf-8", "surrogatepass") + b"\n")
    return sha.hexdigest()


def surroundings() -> dict[str, Any]:
    """Versions and machine: what numbers can be repeated with."""
    versions = {"aspectrag": __version__}
    for name in _LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    machine = {"processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version()}
    return {"versions": versions, "machine": machine, "system": platform.system()}


def dumped(value: Any, indent: int = 0) -> str:
    """JSON on one line, or indented; texts are data, and stay as they are."""
    return ujson.dumps(verbatim(value), ensure_ascii=False, escape_forward_slashes=False, indent=indent)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def now() -> str:
    """The time, in UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
