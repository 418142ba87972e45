"""Examples for a recipe: records of control stages, labels of a benchmark, its questions, or pools to be ranked.

    stage = "router", sets = [...]          what a control stage of HANRAG learns from (:mod:`...data.construction`)
    benchmark = "nf-cats", output = { type = "type" }, balance = "type"
                                            the stage's output is a field of the record; of each class as many
    benchmark = "wiki-nfqa", matching = "(?i)^why", known = { classify = { type = "REASON" } }
                                            questions for the whole method, of which some stages are known
    pools = ["asqa", ...]                   questions with aspects and sub-answers, for rankers

``tune`` is learnt from and chosen by, ``dev`` is measured on; they share no question and no supporting passage. Where a
benchmark has no ``tune``, its ``dev`` is halved. With
``examples = "router"`` those that come with the package (``data/demo/examples``) are learnt from instead: demos made of
them may be passed on, whatever the licence of a benchmark says.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import dspy
import ujson

from ... import data as package
from ...data.benchmarks.loading import QuestionSet, load
from ...data.benchmarks.registry import benchmark
from ...data.benchmarks.releases import NoSplitError
from ...data.benchmarks.store import fetched
from ...data.construction.gathering import Gathered, gathered, indexed
from ...data.construction.relevance import relevance
from ...data.construction.revelator import BUILDERS
from ...data.construction.sampling import balanced, some
from ...data.construction.splitting import apart, split
from ...data.construction.stages import STAGES, Stage
from ...data.index.retriever import Retriever
from ...errors import AspectragError
from ..metrics.metric import Metric
from ..metrics.reading import sub_answers_of
from ..metrics.registry import metric as registered
from ..metrics.stages import hit_of, label_of, parts_of, ranking_at

logger = logging.getLogger(__name__)

# Stages whose output is a label: of each as many examples are taken.
_JUDGING = ("router", "relevance", "ending")

# What a recipe's data may say.
_KINDS: dict[str, Any] = {
    "stage": str, "sets": list, "benchmark": str, "output": dict, "balance": str, "matching": str, "known": dict,
    "pools": list, "examples": str,
}  # fmt: skip

Item = TypeVar("Item")
Sizes = tuple[int, int, int]
Sets = tuple[list[dspy.Example], list[dspy.Example], list[dspy.Example]]


@dataclass(frozen=True)
class Materials:
    """Examples, and what goes with them.

    Attributes:
        train: To learn from.
        val: To choose by.
        test: To measure on.
        metric: What counts.
        questions: The benchmarks that questions for whole methods are from: they may bring passages.
        known: Outputs of stages that are known.
    """

    train: list[dspy.Example]
    val: list[dspy.Example]
    test: list[dspy.Example]
    metric: Metric
    questions: tuple[QuestionSet, ...] = ()
    known: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Found:
    """What a metric is made with: the stage's output field, and a retriever over the passages of the examples."""

    output: str
    retriever: Retriever | None


def metric_of(name: str, found: Found) -> Metric:
    """The metric of a recipe.

    Raises:
        AspectragError: There is none of this name.
    """
    kind, _, k = name.partition("@")
    if name == "label":
        return label_of(found.output)
    if name == "parts":
        return parts_of(found.output)
    if kind == "ranking" and k.isdigit():
        return ranking_at(int(k))
    if kind == "hit" and k.isdigit():
        if found.retriever is None:
            raise AspectragError(f"the metric {name} needs passages: choose sets that bring some")
        return hit_of(found.output, found.retriever, int(k))
    return registered(name)


@contextmanager
def materials(
    data: Mapping[str, Any], sizes: Sizes, store: Path | None, seed: int, metric: Callable[[Found], Metric]
) -> Iterator[Materials]:
    """Gather examples; what their metric needs is there for the time of the block.

    Args:
        data: The table ``[data]`` of a recipe.
        sizes: Examples to learn from, to choose by, to measure on, at most.
        store: Folder with a folder for each benchmark; what was fetched by default.
        seed: Which are taken.
        metric: Makes the metric.

    Raises:
        AspectragError: The data cannot be had, or there is too little.
    """
    _check(data)
    store = store or fetched()
    if "stage" in data:
        yield from _of_stage(data, sizes, store, seed, metric)
    elif "pools" in data:
        loaded = {split: [load(name, split, store=store) for name in data["pools"]] for split in ("tune", "dev")}
        tune, dev = ([_ranked(q) for part in loaded[split] for q in part.questions] for split in ("tune", "dev"))
        sets = _cut([each for each in tune if each], [each for each in dev if each], sizes, seed)
        yield Materials(*sets, metric(Found("ranked", None)), tuple(loaded["dev"]))
    elif "benchmark" in data:
        yield _of_benchmark(data, sizes, store, seed, metric)
    else:
        raise AspectragError("the recipe's data names no stage, no benchmark and no pools")


def _check(data: Mapping[str, Any]) -> None:
    """Refuse what cannot be gathered by, before anything is read.

    Raises:
        AspectragError: An entry is unknown, of another kind, or missing.
    """
    for name, value in data.items():
        if name not in _KINDS:
            raise AspectragError(f"the recipe's data has {name!r}, which is none of {', '.join(_KINDS)}")
        if not isinstance(value, _KINDS[name]):
            raise AspectragError(f"the recipe's data: {name} cannot be {value!r:.60}")
    if "stage" in data and "sets" not in data:
        raise AspectragError("the recipe's data has a stage, and no sets to make its examples of")
    try:
        re.compile(data.get("matching", ""))
    except re.error as error:
        raise AspectragError(f"the recipe's data: matching is no pattern ({error})") from None


def _of_stage(
    data: Mapping[str, Any], sizes: Sizes, store: Path, seed: int, metric: Callable[[Found], Metric]
) -> Iterator[Materials]:
    if data["stage"] not in STAGES:
        raise AspectragError(f"there is no data for a stage {data['stage']!r}: choose {', '.join(STAGES)}")
    stage = STAGES[data["stage"]]
    source = gathered(data["sets"], store)
    # Negatives for the judge of relevance, and hits of the refiner, are looked up.
    looking = stage.name in ("relevance", "refiner")
    with indexed(source.passages) if looking else nullcontext() as index:
        learn, measure = (
            _records(stage, questions, source, index, seed) for questions in (source.learn, source.measure)
        )
        sets = _cut(learn, measure, sizes, seed, stage.output if stage.name in _JUDGING else None)
        sets = _with_packaged(data, sets, sizes, stage.inputs)
        yield Materials(*sets, metric(Found(stage.output, index)))


def _records(
    stage: Stage, questions: Sequence[dspy.Example], source: Gathered, index: Retriever | None, seed: int
) -> list[dspy.Example]:
    if stage.name == "relevance":
        assert index is not None
        records = relevance(questions, source.passages, index, seed=seed)
    else:
        records = BUILDERS[stage.name](questions, seed=seed)
    if not records:
        raise AspectragError(f"the sets of the recipe hold nothing for the {stage.name}")
    extra = ("next_ids",) if "next_ids" in records[0] else ()
    examples = (stage.example(record).copy(**{name: record[name] for name in extra}) for record in records)
    return [each for each in examples if not extra or each.next_ids]


def _of_benchmark(
    data: Mapping[str, Any], sizes: Sizes, store: Path, seed: int, metric: Callable[[Found], Metric]
) -> Materials:
    name, output = data["benchmark"], data.get("output") or {}
    measured = load(name, "dev", store=store)
    pattern = re.compile(data.get("matching", ""))
    tune, dev = ([q for q in part if pattern.search(q.question)] for part in _parts(name, measured.questions, store))
    tune = apart(tune, dev)
    balance = data.get("balance")
    if output:
        (field, source) = next(iter(output.items()))
        tune, dev = ([_labelled(q, field, source) for q in part] for part in (tune, dev))
        balance = field if balance else None
        sets = _with_packaged(data, _cut(tune, dev, sizes, seed, balance), sizes, ("question",))
        return Materials(*sets, metric(Found(field, None)))
    sets = _cut(tune, dev, sizes, seed, balance)
    return Materials(*sets, metric(Found("answer", None)), (measured,), data.get("known"))


def _parts(
    name: str, dev: Sequence[dspy.Example], store: Path
) -> tuple[Sequence[dspy.Example], Sequence[dspy.Example]]:
    """The questions to learn from, and those to measure on: halves of ``dev`` where none are published to learn from.

    Which half a question is in hangs on the questions alone: no seed and no recipe learns what another measures on.
    """
    try:
        return load(name, "tune", store=store).questions, dev
    except NoSplitError:
        hub = benchmark(name).hub
        if hub is None or "tune" in hub.splits:
            raise
    logger.warning("%s has no split tune: one half of its dev is learnt from, the other is measured on", name)
    halves = split(sorted(dev, key=lambda q: q.id), {"tune": 0.5, "dev": 0.5})
    return halves["tune"], halves["dev"]


def _labelled(question: dspy.Example, field: str, source: str) -> dspy.Example:
    if source not in question:
        raise AspectragError(f"the recipe's data: the questions have no {source} (they have: {', '.join(question)})")
    return dspy.Example(question=question.question, **{field: question[source]}).with_inputs("question")


def _ranked(question: dspy.Example) -> dspy.Example | None:
    """A question whose pool can be ranked: with its aspects, and what covers them."""
    aspects = [part["question"] for part in question.sub_questions if part.get("answers")]
    if not (sub_answers := sub_answers_of(question)):
        return None
    fields = {"question": question.question, "aspects": aspects, "sub_answers": sub_answers, "id": question.id}
    return dspy.Example(**fields, answers=list(question.answers)).with_inputs("question", "aspects")


def _with_packaged(data: Mapping[str, Any], sets: Sets, sizes: Sizes, inputs: Sequence[str]) -> Sets:
    """The sets, with the package's own examples to learn from where the recipe names them."""
    if not (name := data.get("examples")):
        return sets
    file = files(package).joinpath("demo", "examples", f"{name}.jsonl")
    if not file.is_file():
        raise AspectragError(f"the package has no examples {name!r}")
    records = map(ujson.loads, file.read_text(encoding="utf-8").splitlines())
    return [own_example(record, inputs) for record in records][: sizes[0]], *sets[1:]


def own_example(record: Mapping[str, Any], inputs: Sequence[str]) -> dspy.Example:
    """A record of the user's own as an example; its other fields are what is expected."""
    return dspy.Example(dict(record)).with_inputs(*inputs)


def _cut(
    tune: Sequence[dspy.Example], dev: Sequence[dspy.Example], sizes: Sizes, seed: int, balance: str | None = None
) -> Sets:
    """Samples of the sizes that are wanted; of small sets what there is, shared out as the sizes are."""
    train, val, test = sizes
    tune, dev = _distinct(tune), _distinct(dev)

    def pick(items: Sequence[Item], example: Callable[[Item], dspy.Example], most: int) -> list[Item]:
        if balance is None:
            return some(items, most, seed)
        return balanced(items, lambda item: str(example(item)[balance]), most, fill=True, seed=seed)

    learning = pick(tune, lambda each: each, train + val)
    places = range(len(learning))
    chosen = pick(places, lambda place: learning[place], round(val / (train + val) * len(learning)))
    kept = set(chosen)
    return (
        [learning[place] for place in places if place not in kept],
        [learning[place] for place in chosen],
        pick(dev, lambda each: each, test),
    )


def _distinct(examples: Sequence[dspy.Example]) -> list[dspy.Example]:
    """Each thing that is asked, once."""
    return list({repr(example.inputs().toDict()): example for example in examples}.values())
