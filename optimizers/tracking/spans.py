"""A finished trace as MLflow spans, each with the times that it really had."""

from collections.abc import Mapping
from typing import Any

from ...programs.trace import Step, Trace

_TYPES = {"program": "CHAIN", "module": "CHAIN", "branch": "CHAIN", "lm": "CHAT_MODEL", "retrieval": "RETRIEVER"}
# Names that MLflow adds up and shows by.
_USAGE, _MODEL = "mlflow.chat.tokenUsage", "mlflow.llm.model"


def write(mlflow: Any, trace: Trace, experiment: str, tags: Mapping[str, str], metadata: Mapping[str, str]) -> str:
    """Hand over the outermost steps of a trace, each as a trace of MLflow's; it sends them on in the background.

    Args:
        mlflow: The library.
        trace: Finished; its secrets are masked here.
        experiment: Id of the experiment.
        tags: Of each trace.
        metadata: Of each trace.

    Returns:
        The id of the last one; empty where MLflow was told to keep none, as by its sampling.
    """
    last = ""
    for step in Trace.from_dict(trace.to_dict()).steps:
        # Outside of any span that may be active: a finished trace is nobody's part.
        root = _begun(mlflow, step, None, experiment_id=experiment, tags=dict(tags), metadata=dict(metadata))
        _finish(mlflow, step, root)
        last = "" if isinstance(root, mlflow.entities.NoOpSpan) else root.trace_id
    return last


def _begun(mlflow: Any, step: Step, parent: Any, **of_trace: Any) -> Any:
    attributes: dict[str, Any] = {"aspectrag.kind": step.kind}
    if step.cached is not None:
        attributes["aspectrag.cached"] = step.cached
    if step.kind == "lm":
        attributes[_MODEL] = step.name
    if step.tokens:
        read, written = step.tokens.get("prompt", 0), step.tokens.get("completion", 0)
        attributes[_USAGE] = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return mlflow.start_span_no_context(
        step.name, _TYPES.get(step.kind, "UNKNOWN"), parent, inputs=step.inputs, attributes=attributes,
        start_time_ns=int(step.started * 1e9), **of_trace,
    )  # fmt: skip


def _finish(mlflow: Any, step: Step, span: Any) -> None:
    for child in step.children:
        _finish(mlflow, child, _begun(mlflow, child, span))
    failed = mlflow.entities.SpanStatus(mlflow.entities.SpanStatusCode.ERROR, step.error)
    span.end(
        outputs=step.outputs,
        status=failed if step.error else None,
        end_time_ns=int(step.started * 1e9) + int(step.seconds * 1e9),
    )
