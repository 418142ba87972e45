"""How well a single stage does its part, by what it ought to have returned.

The stage's own output is in the prediction, what was expected in the example, under the same name. A stage whose output
did not parse returns nothing, and scores 0.
"""

from collections.abc import Sequence

import dspy
import numpy as np
from scipy.optimize import linear_sum_assignment

from ...data.index.retriever import Retriever
from ..ranker.coverage import coverage_scores
from .div import div
from .f1 import f1
from .metric import Metric

# What a classifier is taken to have said where nothing of it could be read.
NOTHING = "(nothing)"


def label_of(field: str) -> Metric:
    """Whether the label is the expected one; over a run accuracy, F1 by class and confusion come of it.

    Example:
        >>> label_of("route").score(dspy.Example(route="complex"), dspy.Prediction(route="complex"))
        1.0
    """

    def pair(example: dspy.Example, prediction: dspy.Prediction) -> tuple[str, str]:
        return str(example[field]), str(prediction.get(field, NOTHING))

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float:
        expected, given = pair(example, prediction)
        return float(expected == given)

    return Metric("label", f"the {field} is the expected one", score, labels=pair)


def parts_match(expected: Sequence[str], given: Sequence[str]) -> float:
    """How well parts agree with the expected ones, each used once: token F1 of the best pairing.

    Divided by the larger number of the two, so that too many parts cost as much as too few.

    Example:
        >>> parts_match(["Who wrote Emma?", "When did she die?"], ["When did she die?", "Who wrote Emma?"])
        1.0
        >>> parts_match(["Who wrote Emma?"], ["Who wrote Emma?", "When?"])
        0.5
    """
    if not expected or not given:
        return float(not expected and not given)
    agreement = np.array([[f1(one, [other]) for other in given] for one in expected])
    rows, columns = linear_sum_assignment(agreement, maximize=True)
    return float(agreement[rows, columns].sum() / max(agreement.shape))


def parts_of(field: str) -> Metric:
    """Agreement of a list of questions with the expected ones; see :func:`parts_match`."""

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float:
        return parts_match(example[field], [str(part) for part in prediction.get(field) or ()])

    return Metric("parts", "agreement of the parts with the expected ones, by words", score)


def hit_of(field: str, retriever: Retriever, k: int) -> Metric:
    """Whether looking up what the stage wrote finds a passage that is needed next (``next_ids``) among the first k."""

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float:
        query = str(prediction.get(field) or "").strip()
        if not query:
            return 0.0
        (found,) = retriever.search([query], k)
        return float(any(passage.id in example.next_ids for passage in found))

    return Metric(f"hit@{k}", f"a passage that is needed next is among the first {k} found", score)


def ranking_at(k: int) -> Metric:
    """DIV of the first k passages of a ranking, against the best list of the whole pool they were ranked from."""

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float:
        pool = list(prediction.get("pool") or ())
        if not pool:
            return 0.0
        places = {passage.id: place for place, passage in enumerate(pool)}
        scores = coverage_scores(example.sub_answers, [passage.contents for passage in pool])
        return div(scores, [places[passage.id] for passage in prediction.ranked], k)

    return Metric(f"ranking@{k}", f"coverage of the sub-answers by the first {k} passages, beside the best list", score)
