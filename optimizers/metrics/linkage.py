"""LINKAGE: the rank of an answer among references of known worth.

Sources: LINKAGE (Yang et al., Findings of EMNLP 2024, arXiv 2409.14744) and, for MRR, MPR and one reference per grade,
Typed-RAG (arXiv 2503.15879), section 4. Different from the published code, all systems are compared with the same
references, a rank that there is not counts as none, and failures of the judge are told.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from ...programs.blocks.concurrent import run_all
from ...programs.blocks.stage import RejectedOutputError, StageError
from ...signatures.evaluating import NumberedReference, RankAgainstReferences
from ...texts import encodable
from .judge import Judged, ask
from .metric import Metric
from .reading import said

DRAWS = 3
_DOUBLE, _SINGLE = re.compile(r"\[\[\s{0,3}([0-9]{1,6})\s{0,3}\]\]"), re.compile(r"\[\s{0,3}([0-9]{1,6})\s{0,3}\]")
_ALONE = re.compile(r"\A\s*([0-9]{1,6})\.?\s*\Z")


@dataclass(frozen=True)
class Ranking:
    """One judgement of an answer.

    Attributes:
        references: What it was compared with, best first.
        rank: Its place, 1 to ``len(references) + 1``, which is worse than all of them.
        failure: Why the judge gave no rank; the rank is then the worst.
    """

    references: tuple[str, ...]
    rank: int
    failure: str | None = None


@dataclass(frozen=True)
class Linkage:
    """What was judged of one answer: a ranking for each draw of references."""

    draws: tuple[Ranking, ...]

    def scores(self) -> dict[str, float]:
        """The columns of the metric; see :func:`linkage_over`."""
        ranks = [draw.rank for draw in self.draws]
        sizes = [len(draw.references) for draw in self.draws]
        tied = [min(rank, size) for rank, size in zip(ranks, sizes, strict=True)]
        return {
            "mrr": mean_reciprocal_rank(ranks),
            "mpr": mean_percent_rank(ranks, sizes),
            "mrr_n": mean_reciprocal_rank(tied),
            "mpr_n": mean_percent_rank(tied, sizes),
            "linkage_failed": fmean(draw.failure is not None for draw in self.draws),
        }

    def detail(self) -> list[dict[str, Any]]:
        """Each draw in a JSON-ready form: references, rank, failure, and the columns as if it was the only one."""
        return [{**asdict(draw), "scores": Linkage((draw,)).scores()} for draw in self.draws]


def mean_reciprocal_rank(ranks: Sequence[int]) -> float:
    """MRR.

    Example:
        >>> round(mean_reciprocal_rank([1, 2, 4]), 4)
        0.5833
    """
    return fmean(1 / rank for rank in ranks)


def mean_percent_rank(ranks: Sequence[int], sizes: Sequence[int]) -> float:
    r"""MPR: the share of its references that an answer is not worse than, in per cent.

    .. math:: \frac{100}{n} \sum_i \left( 1 - \frac{rank_i - 1}{|R_i|} \right)

    The denominator is the number of references whether the worst rank is :math:`|R|` or :math:`|R| + 1`: what is worse
    than all of them gets :math:`100 / |R|` under the first convention, which is Typed-RAG's, and 0 under the second.

    Example:
        >>> round(mean_percent_rank([1, 2, 4], [4, 4, 4]), 2), mean_percent_rank([5], [4])
        (66.67, 0.0)
    """
    return 100 * fmean(1 - (rank - 1) / size for rank, size in zip(ranks, sizes, strict=True))


def draw_references(example: dspy.Example, draw: int) -> tuple[str, ...]:
    """One reference of each grade, the best first: the same ones for every system, run and machine.

    Args:
        example: With ``id`` and ``references``.
        draw: Which of the draws, from 0.

    Example:
        >>> graded = [{"text": "so", "label": 0}, {"text": "because of coal", "label": 3}]
        >>> draw_references(dspy.Example(id="q1", references=graded), 0)
        ('because of coal', 'so')
    """
    by_grade: dict[float, set[str]] = {}
    for reference in example.get("references") or ():
        if reference["text"].strip():
            by_grade.setdefault(reference["label"], set()).add(reference["text"])
    # Seeded by a text, Python takes its SHA-512.
    chance = random.Random(f"{encodable(str(example.get('id') or example.question))}/{draw}")
    return tuple(chance.choice(sorted(by_grade[grade])) for grade in sorted(by_grade, reverse=True))


def rank_in(text: str) -> int | None:
    """The rank in what a judge wrote as prose: the first ``[[n]]``, else the only ``[n]``, else a number all alone.

    Example:
        >>> rank_in("Answer [1] is better, so [[3]]"), rank_in("It is [2]."), rank_in("[1] is better than [2]")
        (3, 2, None)
    """
    if found := _DOUBLE.search(text):
        return int(found[1])
    single = set(_SINGLE.findall(text)) or set(_ALONE.findall(text))
    return int(single.pop()) if len(single) == 1 else None


class _Judge(dspy.Module):
    """The predictor of the rank; a judge that answers in prose is understood too."""

    def __init__(self) -> None:
        super().__init__()
        self.rank = dspy.Predict(RankAgainstReferences)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        try:
            return self.rank(**inputs)
        except AdapterParseError as error:
            if (rank := rank_in(error.lm_response or "")) is None:
                raise
            return dspy.Prediction(rank=rank)


_JUDGE = _Judge()


def rank_among(question: str, references: Sequence[str], answer: str) -> Ranking:
    """Have an answer ranked; one that says nothing is worse than every reference, and no one is asked."""
    worst = len(references) + 1
    if not answer:
        return Ranking(tuple(references), worst)

    def accept(out: dspy.Prediction) -> int:
        if not 1 <= out.rank <= worst:
            raise RejectedOutputError(f"the rank is {out.rank}, not 1 to {worst}")
        return out.rank

    numbered = [NumberedReference(number=number, text=text) for number, text in enumerate(references, 1)]
    try:
        rank = ask(_JUDGE, accept, question=question, references=numbered, answer=answer, worst=worst)
    except StageError as error:
        return Ranking(tuple(references), worst, failure=error.reason)
    return Ranking(tuple(references), rank)


def linkage(example: dspy.Example, prediction: dspy.Prediction, draws: int = DRAWS) -> Linkage | None:
    """Have an answer ranked among each draw of references; draws that chose the same are judged once.

    Returns:
        What was judged; ``None`` where the references have less than two grades: one alone orders nothing.
    """
    drawn = [draw_references(example, draw) for draw in range(draws)]
    if len(drawn[0]) < 2:
        return None
    distinct, answer = list(dict.fromkeys(drawn)), said(prediction)
    rankings = run_all(lambda references: rank_among(example.question, references, answer), distinct, "draw")
    by_references = dict(zip(distinct, rankings, strict=True))
    return Linkage(tuple(by_references[references] for references in drawn))


def linkage_over(draws: int) -> Metric:
    """LINKAGE over a number of draws, in five columns.

    ``mrr`` and ``mpr`` let an answer be worse than all references, as LINKAGE does (worst rank N + 1); ``mrr_n`` and
    ``mpr_n`` put it beside the worst of them, as Typed-RAG does (N). Both are of the same judgement. ``linkage_failed``
    is the share of the draws without a rank; these are in the other columns with the worst one. Every draw is told in
    the score's ``detail``: an evaluation keeps it, and gives the means of each draw beside those of all.
    """

    def score(example: dspy.Example, prediction: dspy.Prediction) -> Judged | None:
        judged = linkage(example, prediction, draws)
        return Judged(judged.scores(), judged.detail()) if judged else None

    return Metric(
        "linkage",
        "place among references of known worth: MRR, and MPR in per cent",
        score,
        judged=True,
        gives=("mrr", "mpr", "mrr_n", "mpr_n", "linkage_failed"),
    )


METRIC = linkage_over(DRAWS)
