"""How well a classifier tells its classes apart, over a whole run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from ...errors import AspectragError


@dataclass(frozen=True)
class ClassScore:
    """How well one class is recognised; ``support`` is how many belong to it."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Classification:
    """Scores of a classifier.

    Attributes:
        accuracy: The share that was put into the right class.
        macro_f1: The mean of the F1 of the classes, each counting the same.
        classes: Scores by label, in alphabetical order.
        confusion: How many of each class (rows) were put into each (columns), in the order of ``classes``.
    """

    accuracy: float
    macro_f1: float
    classes: dict[str, ClassScore]
    confusion: tuple[tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return asdict(self)


def classification(pairs: Iterable[tuple[str, str]]) -> Classification:
    r"""Compare predicted labels with those expected.

    With the true positives, false positives and false negatives of a class:

    .. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{TP + FN}, \quad F_1 = \frac{2 P R}{P + R}

    The macro-F1 is the mean of the F1 of all classes. Source: Sokolova and Lapalme, 2009; this macro-F1 is the one of
    Opitz and Burst (arXiv 1911.03347) that averages F1, as scikit-learn computes it.

    Classes are the labels that occur on either side: one that was predicted and never expected lowers the macro-F1 by
    an F1 of 0, as does one that was expected and never predicted; one that does not occur at all is no class here.
    Where a precision or recall has nothing to divide by, it is 0.

    Args:
        pairs: ``(expected, predicted)`` of each question.

    Raises:
        AspectragError: There are none.

    Example:
        >>> scores = classification([("reason", "reason"), ("reason", "debate"), ("debate", "debate")])
        >>> round(scores.accuracy, 2), scores.classes["reason"].recall, scores.confusion
        (0.67, 0.5, ((1, 0), (1, 1)))
    """
    given = list(pairs)
    if not given:
        raise AspectragError("there is nothing to compare: no question has a label")
    expected, predicted = zip(*given, strict=True)
    labels = sorted({*expected, *predicted})
    undefined: Any = 0.0  # scikit-learn takes numbers, its annotation only texts
    columns: Any = precision_recall_fscore_support(expected, predicted, labels=labels, zero_division=undefined)
    counts = Counter(given)
    classes = {
        label: ClassScore(float(p), float(r), float(f), int(n))
        for label, p, r, f, n in zip(labels, *columns, strict=True)
    }
    return Classification(
        accuracy=float(accuracy_score(expected, predicted)),
        macro_f1=sum(score.f1 for score in classes.values()) / len(classes),
        classes=classes,
        confusion=tuple(tuple(counts[row, column] for column in labels) for row in labels),
    )
