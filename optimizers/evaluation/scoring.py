"""From answers to tables: what each question scored, the means with their intervals, and the same per category."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import quote

import dspy
from tqdm.auto import tqdm

from ...data.growing import GrowingFile
from ...errors import AspectragError
from ...programs.trace import verbatim
from ...whole import write
from ..metrics.classification import classification
from ..metrics.judge import Judged
from ..metrics.metric import Metric
from .folder import dumped
from .pool import as_they_come
from .records import prediction_of
from .run import ALL, Run, Scored
from .statistics import Mean, mean_of


@dataclass(frozen=True)
class _Verdicts:
    """What a judge said of one answer: the columns, and a record of each verdict where the metric tells them."""

    columns: dict[str, float]
    detail: list[dict[str, Any]]


def score(
    run: Run,
    metrics: Sequence[Metric],
    categories: Sequence[str] = (),
    *,
    judge: str = "",
    workers: int = 8,
    progress: bool = True,
) -> list[Scored]:
    """Score every answer of a run and write its tables: ``scores.jsonl``, ``metrics.json``, ``by_category.csv``,
    ``run.trec``.

    A question that failed scores 0 in every metric of which more is better, and is left out of all others; the means
    without it are given too. What a judge said is kept in ``judgements.jsonl``, with ``detail``: every verdict, what it
    was on and why there is none; only where it gave no verdict is it asked again. Of these ``metrics.json`` lists the
    missing ones (``unjudged``: which question, metric and draw, and the reason), and for metrics of several draws, as
    LINKAGE is, the means of each (``draws``): intervals are over questions, how far draws differ is seen there.

    Args:
        run: The run.
        metrics: What is measured; those that are judged ask the model in force.
        categories: Fields of the questions, or of their ``meta``, that tables are split by.
        judge: Who judges: what another judge said is not kept.
        workers: Answers that are judged at once.
        progress: Whether to show a bar for judging.

    Raises:
        AspectragError: A metric cannot score an answer.
        dspy.LMError: The judge cannot be reached; what it said before is kept.

    Example:
        >>> from aspectrag.optimizers.metrics import METRICS
        >>> score(Run("runs/first/rag"), [METRICS["em"]], ["type"])  # doctest: +SKIP
    """  # noqa: D205 - the names of the files need the room
    judged = _judged(run, [metric for metric in metrics if metric.judged], judge, workers, progress)
    scored, trec = [], []
    labels: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for question, record in run.answers():
        own = {
            category: str(value) for category in categories if (value := _value(question, category)) not in ("", None)
        }
        prediction = prediction_of(record)
        scores: dict[str, float] = {}
        for metric in metrics:
            if record["error"] is not None:
                scores |= _nothing(metric, question, prediction)
            else:
                scores |= (
                    judged[metric][question.id].columns if metric.judged else _columns(metric, question, prediction)
                )
            if metric.labels and (pair := metric.labels(question, prediction)):
                labels[metric.name].append(pair)
        scored.append(Scored(question.id, scores, own, record["error"]))
        trec += [
            # Readers sort by the score: the retriever's need not fall where the lists of several queries are merged.
            f"{quote(question.id)} Q0 {quote(p.id)} {rank} {1 / rank:.6f} {quote(run.path.name)}\n"
            for rank, p in enumerate(prediction.passages, 1)
        ]
    write(run.path / "scores.jsonl", "".join(f"{dumped(asdict(each))}\n" for each in scored))
    write(run.path / "run.trec", "".join(trec))
    classes = {name: classification(pairs).to_dict() for name, pairs in labels.items()}
    table = means_by_group(scored)
    totals = summary(scored, len(run.questions), table[ALL, ALL])
    totals |= {"classes": classes, "unjudged": _unjudged(scored, judged), "draws": _draws(scored, judged)}
    write(run.path / "metrics.json", dumped(totals, indent=2) + "\n")
    write(run.path / "by_category.csv", _csv(table))
    return scored


def _columns(metric: Metric, question: dspy.Example, prediction: dspy.Prediction) -> dict[str, float]:
    try:
        return metric.columns(question, prediction)
    except dspy.LMError:
        raise
    except Exception as error:
        raise AspectragError(
            f"the metric {metric.name} cannot score {question.id!r} ({type(error).__name__}: {error})"
        ) from error


def _nothing(metric: Metric, question: dspy.Example, prediction: dspy.Prediction) -> dict[str, float]:
    """What a failed question scores: 0 wherever an empty answer has a score of which more is better."""
    if metric.better != "higher":
        return {}
    return {column: 0.0 for column in _columns(metric, question, prediction) if not column.endswith("_failed")}


def _judged(
    run: Run, metrics: Sequence[Metric], judge: str, workers: int, progress: bool
) -> dict[Metric, dict[str, _Verdicts]]:
    """Verdicts by metric and question; only what was not judged before asks the model."""
    file = GrowingFile(run.path / "judgements.jsonl", ("metric", "id", "answer", "judge", "columns"))
    known: dict[Metric, dict[str, _Verdicts]] = {metric: {} for metric in metrics}
    if not metrics:
        return known
    by_name = {metric.name: metric for metric in metrics}
    answers = {}
    for record in file:
        metric, columns = by_name.get(record["metric"]), record["columns"]
        whole = not any(share for column, share in columns.items() if column.endswith("_failed"))
        if metric and record["judge"] == judge and whole:
            known[metric][record["id"]] = _Verdicts(columns, record.get("detail") or [])
            answers[record["metric"], record["id"]] = record["answer"]
    left = [
        (metric, question, record)
        for question, record in run.answers()
        if record["error"] is None
        for metric in metrics
        if answers.get((metric.name, question.id)) != record["answer"]
    ]

    def work(task: tuple[Metric, dspy.Example, dict[str, Any]]) -> _Verdicts:
        metric, question, record = task
        found = _verdicts(metric, question, prediction_of(record))
        said = {"answer": record["answer"], "judge": judge, **asdict(found)}
        file.add({"metric": metric.name, "id": question.id, **said})
        return found

    bar = tqdm(total=len(left), desc="judging", unit="answer", disable=None if progress else True)
    with bar, closing(as_they_come(work, left, workers, finish=True)) as outcomes:
        for (metric, question, _), found in outcomes:
            known[metric][question.id] = found
            bar.update()
    return known


def _verdicts(metric: Metric, question: dspy.Example, prediction: dspy.Prediction) -> _Verdicts:
    detail: list[dict[str, Any]] = []

    def kept(question: dspy.Example, prediction: dspy.Prediction) -> Any:
        score = metric.score(question, prediction)
        if isinstance(score, Judged):
            detail.extend(verbatim(score.detail))  # it quotes question, answer and what the judge wrote
        return score

    return _Verdicts(_columns(replace(metric, score=kept), question, prediction), detail)


def _unjudged(scored: Sequence[Scored], judged: Mapping[Metric, Mapping[str, _Verdicts]]) -> list[dict[str, Any]]:
    """The verdicts that there are not; draws, as all that a judge is asked of one answer, count from 0."""
    return [
        {"id": each.id, "metric": metric.name, "draw": draw, "reason": verdict["failure"]}
        for metric, found in judged.items()
        for each in scored
        if each.error is None
        for draw, verdict in enumerate(found[each.id].detail)
        if verdict.get("failure") is not None
    ]


def _draws(
    scored: Sequence[Scored], judged: Mapping[Metric, Mapping[str, _Verdicts]]
) -> dict[str, list[dict[str, Any]]]:
    """The means of every draw, by metric; a question that failed scores in each what it scores in all."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for metric, found in judged.items():
        count = max((len(each.detail) for each in found.values() if any("scores" in v for v in each.detail)), default=0)
        for draw in range(count):
            own = [
                Scored(each.id, found[each.id].detail[draw]["scores"])
                if each.error is None
                else Scored(each.id, {name: value for name, value in each.scores.items() if name in metric.gives})
                for each in scored
                if each.error is not None or draw < len(found[each.id].detail)
            ]
            table = {name: mean.to_dict() for name, mean in means(own).items()}
            tables.setdefault(metric.name, []).append(table)
    return tables


def _value(question: dspy.Example, category: str) -> Any:
    return question.get(category, (question.get("meta") or {}).get(category))


def summary(scored: Sequence[Scored], asked: int, overall: Mapping[str, Mean]) -> dict[str, Any]:
    """What ``metrics.json`` holds: means of all questions, those without the failed ones, and which failed."""
    answered = [each for each in scored if each.error is None]
    without = overall if len(answered) == len(scored) else means(answered)
    return {
        "questions": asked,
        "answered": len(answered),
        "metrics": {name: mean.to_dict() for name, mean in overall.items()},
        "metrics_of_answered": {name: mean.to_dict() for name, mean in without.items()},
        "failed": [{"id": each.id, "error": each.error} for each in scored if each.error is not None],
    }


def means(scored: Iterable[Scored]) -> dict[str, Mean]:
    """The mean of every column over the questions that have it, in the order in which columns come."""
    values: dict[str, list[float]] = defaultdict(list)
    for each in scored:
        for column, value in each.scores.items():
            values[column].append(value)
    return {column: mean_of(numbers) for column, numbers in values.items()}


def groups(scored: Sequence[Scored]) -> dict[tuple[str, str], list[Scored]]:
    """The questions of every value of every category, under ``(category, value)``; all of them under ``all``."""
    found: dict[tuple[str, str], list[Scored]] = {(ALL, ALL): list(scored)}
    for category in dict.fromkeys(name for each in scored for name in each.categories):
        for value in sorted({each.categories[category] for each in scored if category in each.categories}):
            found[category, value] = [each for each in scored if each.categories.get(category) == value]
    return found


def means_by_group(scored: Sequence[Scored]) -> dict[tuple[str, str], dict[str, Mean]]:
    """The mean of every column, for every value of every category; under ``all`` those over all questions."""
    return {group: means(members) for group, members in groups(scored).items()}


def _csv(table: Mapping[tuple[str, str], Mapping[str, Mean]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["category", "value", "metric", "mean", "low", "high", "n"], lineterminator="\n")
    writer.writeheader()
    for (category, value), columns in table.items():
        for column, mean in columns.items():
            writer.writerow({"category": category, "value": value, "metric": column, **mean.to_dict()})
    return out.getvalue()
