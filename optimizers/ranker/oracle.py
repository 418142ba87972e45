"""The ranker that knows the sub-answers: how good a list can be, and what other rankers are measured against."""

from collections.abc import Mapping, Sequence

from ...errors import AspectragError
from ...programs.rankers.candidates import Candidate
from .coverage import coverage_scores, silver_list


class CoverageRanker:
    """Ranks by coverage of known sub-answers: its lists are the silver lists.

    Args:
        sub_answers: The sub-answers of each question.

    Example:
        >>> from aspectrag.data.passages import Passage
        >>> pool = [Candidate(Passage(id, "", text), {}) for id, text in (("a", "Wind."), ("b", "Coal is cheap."))]
        >>> CoverageRanker({"Why coal?": ["it is cheap"]}).rank("Why coal?", [], pool, 1)
        ['b']
    """

    def __init__(self, sub_answers: Mapping[str, Sequence[str]]) -> None:
        self._sub_answers = dict(sub_answers)

    def rank(self, question: str, aspects: Sequence[str], pool: Sequence[Candidate], k: int) -> list[str]:  # noqa: ARG002
        """Exactly ``min(k, len(pool))`` distinct ids, best first.

        Raises:
            AspectragError: The question's sub-answers are not known.
        """
        if question not in self._sub_answers:
            raise AspectragError(f"the sub-answers of {question!r} are not known: this ranker needs them")
        scores = coverage_scores(self._sub_answers[question], [candidate.passage.contents for candidate in pool])
        return [pool[place].passage.id for place in silver_list(scores, k)]
