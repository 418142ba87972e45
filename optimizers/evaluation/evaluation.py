"""An evaluation from end to end: several programs, one set of questions, one language model, one folder."""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from ...data.index.stored import Index
from ...errors import AspectragError
from ...programs.program import Program
from ...programs.rankers.pointer import PointerRanker
from ...programs.trace import plain
from ..metrics.given import Given, as_metric
from .folder import dumped
from .run import Run, Runs
from .runner import alone, ask_all
from .scoring import score


def evaluate(
    programs: Mapping[str, Program],
    questions: Sequence[dspy.Example],
    out: str | Path,
    *,
    metrics: Sequence[Given],
    lm: dspy.BaseLM,
    roles: Mapping[str, dspy.BaseLM] | None = None,
    judge: dspy.BaseLM | None = None,
    categories: Sequence[str] = ("type",),
    about: Mapping[str, Any] | None = None,
    workers: int = 8,
    progress: bool = True,
) -> Runs:
    """Ask every question of every program and score the answers; stopped at any moment, it goes on where it was.

    Args:
        programs: By the names that their runs get.
        questions: As benchmarks give them: with ``id``, ``question`` and what the metrics need.
        out: Folder; each program gets a run folder in it (see :mod:`.folder`).
        metrics: Metrics, their names, or functions as DSPy's optimizers know them.
        lm: Answers.
        roles: Language models of single stages.
        judge: Judges, for metrics that ask a judge; ``lm`` by default.
        categories: Fields of the questions that tables are split by.
        about: What else the config of the runs shall say, such as benchmark and split.
        workers: Questions under way at once.
        progress: Whether to show bars.

    Returns:
        The runs, scored, in the order of the programs.

    Raises:
        AspectragError: Something cannot be used as it is, or a folder holds another run.
        dspy.LMError: A language model is out of reach; what was answered is kept.

    Example:
        >>> from aspectrag.data.benchmarks import load  # doctest: +SKIP
        >>> dev = load("demo")  # doctest: +SKIP
        >>> evaluate({"rag": Rag(None, index)}, dev.questions, "runs/first", metrics=["f1"], lm=lm)  # doctest: +SKIP
    """
    chosen = [as_metric(each) for each in metrics]
    own = dict(roles or {})
    judges = judge or own.get("judge") or lm
    shared = {
        **(about or {}),
        "lm": identity_of(lm),
        "metrics": [each.name for each in chosen],
        "judge": identity_of(judges) if any(each.judged for each in chosen) else None,
        "workers": workers,
    }
    configs = {
        name: {"method": name, **described(program), "roles": _roles(program, own), **shared}
        for name, program in programs.items()
    }
    folder = Path(out)
    if (folder / "manifest.json").is_file():
        raise AspectragError(f"{folder} is a run itself: give the folder around it, or a new one")
    with alone(folder):
        with dspy.context(lm=lm, roles=own):
            ask_all(programs, questions, folder, configs, workers=workers, progress=progress)
        runs = Runs(Run(folder / name) for name in programs)
        judge_name = _digest(plain(shared["judge"]))  # a key may have been given to it
        with dspy.context(lm=judges, roles={**own, "judge": judges}):
            for run in runs:
                score(run, chosen, categories, judge=judge_name, workers=workers, progress=progress)
    return runs


def described(program: Program) -> dict[str, Any]:
    """What a program is, as far as its answers depend on it."""
    ranker = getattr(program, "ranker", None)
    return {
        "class": type(program).__name__,
        "config": dataclasses.asdict(program.config),
        "prompts": _digest(program.dump_state()),  # instructions and demos
        # Stages that were tuned, and for which language model; none leaves runs of earlier versions what they are.
        "compiled_stages": {stage: each.get("lm") for stage, each in program.tuning.get("stages", {}).items()} or None,
        "ranker": _ranker(ranker),
        "passages": _passages(program.retriever),
    }


def _roles(program: Program, own: Mapping[str, dspy.BaseLM]) -> dict[str, Any]:
    """The language models of those stages that the program has: other programs' may change from call to call."""
    return {stage: identity_of(own[stage]) for stage, _ in sorted(program.named_predictors()) if stage in own}


def _ranker(ranker: Any) -> dict[str, Any] | str | None:
    """What trained it says too little: two rankers of the same settings differ in their weights."""
    if not isinstance(ranker, PointerRanker):
        return type(ranker).__name__ if ranker else None
    sha = hashlib.sha256()
    for name, weights in sorted(ranker.network.state_dict().items()):
        sha.update(name.encode() + weights.cpu().numpy().tobytes())
    return {**ranker.meta, "weights": sha.hexdigest()[:16]}


def _passages(retriever: Any) -> dict[str, Any] | None:
    if retriever is None:
        return None
    if not isinstance(retriever, Index):
        return {"retriever": type(retriever).__name__}
    manifest = retriever.manifest
    return {
        "retriever": manifest.kind,
        "count": manifest.count,
        "corpus": manifest.corpus_hash,
        "encoder": str(manifest.encoder) if manifest.encoder else None,
    }


def identity_of(lm: dspy.BaseLM) -> dict[str, Any]:
    """The model string, and the parameters that answers depend on."""
    kwargs: dict[str, Any] = getattr(lm, "kwargs", None) or {}
    return {"model": getattr(lm, "model", type(lm).__name__), **{k: v for k, v in kwargs.items() if v is not None}}


def _digest(value: Any) -> str:
    return hashlib.sha256(dumped(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
