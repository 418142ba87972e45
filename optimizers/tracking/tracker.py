"""What goes to MLflow: traces, evaluations and compiled programs."""

import hashlib
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from ...errors import AspectragError
from ...programs.program import Result
from ...programs.trace import Trace, record
from ..compiling.report import Report
from ..evaluation.folder import read_json
from ..evaluation.run import Run
from .reaching import reached
from .records import compiled_metrics, compiled_params, run_metrics, run_params
from .spans import write

_DIGEST, _QUESTION = "aspectrag.digest", "aspectrag.question"
_SOURCE_RUN = "mlflow.sourceRun"
_FILES = (
    "config.yaml", "manifest.json", "questions.jsonl", "predictions.jsonl", "judgements.jsonl", "scores.jsonl",
    "metrics.json", "by_category.csv", "run.trec",
)  # fmt: skip
# The most parameters that a server takes at once, and the longest text of one.
_MOST, _LONGEST = 100, 6000


@dataclass(frozen=True)
class Tracker:
    """An experiment of an MLflow server or store; :func:`.connecting.connect` makes it.

    Whatever goes there is masked as traces and run folders are. Use it or ``mlflow.dspy.autolog()`` for a call, not
    both: each writes a trace of its own.

    Attributes:
        uri: Where MLflow is.
        experiment: Id of the experiment.
        client: MLflow's own.

    Example:
        >>> from aspectrag.optimizers.tracking import connect
        >>> tracker = connect("sqlite:///mlflow.db")  # doctest: +SKIP
        >>> tracker.trace(program(question="Is coal cheap?"))  # doctest: +SKIP
    """

    uri: str
    experiment: str
    client: Any = field(repr=False)

    def trace(self, traced: Trace | Result) -> None:
        """Write a finished trace, or that of a result, as spans: names, times, inputs, outputs, tokens and errors.

        Raises:
            AspectragError: MLflow does not answer.
        """
        with reached(self.uri):
            self._settled(self._write(traced if isinstance(traced, Trace) else traced.trace, {}, {}))

    @contextmanager
    def recording(self) -> Iterator[Trace]:
        """Write every call inside the block, once it ends, however it ends; by threads and ``await`` too.

        Where MLflow does not answer any more, a warning says so, and what was done in the block is not lost. An
        evaluation keeps its traces itself: give its runs to :meth:`run`.

        Example:
            >>> with tracker.recording():  # doctest: +SKIP
            ...     results = dspy.Parallel()([(program, {"question": each}) for each in questions])
        """
        with record() as trace:
            before = len(trace.steps)
            try:
                yield trace
            finally:
                try:
                    self.trace(Trace(trace.steps[before:]))
                except AspectragError as error:
                    warnings.warn(str(error), stacklevel=3)

    def run(self, run: Run, pages: Sequence[Path] = (), *, traces: bool = True, progress: bool = True) -> None:
        """Write a scored run: its config, means with the ends of their intervals, its files, and every trace.

        The same run with the same answers and scores is written once, however often it is handed over.

        Args:
            run: As ``evaluate`` returns it.
            pages: Further files.
            traces: Whether to write the traces.
            progress: Whether to show a bar.

        Raises:
            AspectragError: The run is not scored, or MLflow does not answer.
        """
        digest = hashlib.sha256()
        for name in ("config.yaml", "predictions.jsonl", "metrics.json"):
            file = run.path / name
            digest.update(file.read_bytes() if file.is_file() else b"")
        with reached(self.uri):
            tags = {_DIGEST: digest.hexdigest()}
            known = f"tags.`{_DIGEST}` = '{tags[_DIGEST]}' and attributes.status = 'FINISHED'"
            if self.client.search_runs([self.experiment], known, max_results=1):
                return
            with self._begun(run.name, tags, run_params(run.config), run_metrics(run.metrics)) as id:
                for path in (*(run.path / name for name in _FILES), *pages):
                    if path.is_file():
                        self.client.log_artifact(id, str(path))
                if traces:
                    self._questions(run, id, progress)

    def compiled(self, folder: str | Path) -> None:
        """Write a compiled program: what it was made by, its scores before and after, and its folder.

        Args:
            folder: As ``compile`` left it.

        Raises:
            AspectragError: The folder holds no report, or MLflow does not answer.
        """
        report = Report.from_dict(read_json(Path(folder) / "report.json", "give a folder that 'compile' made"))
        with (
            reached(self.uri),
            self._begun(f"compile {report.target}", {}, compiled_params(report), compiled_metrics(report)) as id,
        ):
            for path in sorted(Path(folder).rglob("*")):
                # What DSPy's optimizers print is theirs, and nobody has masked it.
                if path.is_file() and path.suffix != ".log" and not path.name.startswith("."):
                    self.client.log_artifact(id, str(path), str("program" / path.parent.relative_to(folder)))

    def _questions(self, run: Run, id: str, progress: bool) -> None:
        last = ""
        for question in tqdm(run.questions, "writing traces", unit="question", disable=None if progress else True):
            if trace := run.trace(question.id):
                last = self._write(trace, {_QUESTION: str(question.id)}, {_SOURCE_RUN: id}) or last
        self._settled(last)

    def _write(self, trace: Trace, tags: Mapping[str, str], metadata: Mapping[str, str]) -> str:
        import mlflow

        self.client.get_experiment(self.experiment)  # a server that is gone fails here, and not in the background
        if mlflow.get_tracking_uri() != self.uri:  # another was connected since
            mlflow.set_tracking_uri(self.uri)
        return write(mlflow, trace, self.experiment, tags, metadata)

    def _settled(self, last: str) -> None:
        """Wait until all traces are there; what fails in the background says nothing itself."""
        import mlflow

        mlflow.flush_trace_async_logging()
        if last:
            self.client.get_trace(last, display=False)

    @contextmanager
    def _begun(
        self, name: str, tags: Mapping[str, str], params: Mapping[str, str], metrics: Mapping[str, float]
    ) -> Iterator[str]:
        """A run of MLflow's, with its parameters and metrics; one that is broken off counts as failed."""
        from mlflow.entities import Metric, Param

        # By the client alone: an active run of the user's stays as it is.
        id = self.client.create_run(self.experiment, tags=dict(tags), run_name=name).info.run_id
        try:
            now = int(time.time() * 1000)
            told = [Param(key, value[:_LONGEST]) for key, value in params.items()]
            for start in range(0, len(told), _MOST):
                self.client.log_batch(id, params=told[start : start + _MOST])
            self.client.log_batch(id, metrics=[Metric(key, value, now, 0) for key, value in metrics.items()])
            yield id
        except BaseException:
            with suppress(Exception):  # what went wrong is told, not what came of it
                self.client.set_terminated(id, "FAILED")
            raise
        self.client.set_terminated(id, "FINISHED")
