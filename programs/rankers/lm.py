"""The ranker that is a language model: it is shown passages and names their numbers, best first."""

from collections.abc import Sequence

import dspy

from ...signatures import RankPassages
from ..blocks.fallbacks import fall_back
from ..blocks.passages import fit, numbered
from ..blocks.stage import RejectedOutputError, StageError, call_stage, lm_of
from .candidates import Candidate
from .ranker import completed


class LmRanker:
    """List-wise ranking by a language model, in windows where the pool is larger than what it is shown at once.

    The last window of the pool is ranked first; its better half moves on into the next one, so that a good passage can
    climb from the end of the pool to its front (RankGPT, arXiv 2304.09542, section 4.2). What the model leaves out
    keeps its order behind what it named; unknown and repeated numbers are dropped; both are flagged.

    Args:
        predictor: Predicts ``ranking`` for :class:`~aspectrag.signatures.RankPassages`; by default a fresh one.
        window: Most passages shown at once; fewer where the context window holds no more.
        attempts: Calls per window before it keeps the order it has.
    """

    def __init__(self, predictor: dspy.Predict | None = None, window: int = 20, attempts: int = 3) -> None:
        self._predictor = predictor or dspy.Predict(RankPassages)
        self._window = window
        self._attempts = attempts

    def rank(self, question: str, aspects: Sequence[str], pool: Sequence[Candidate], k: int) -> list[str]:
        """Exactly ``min(k, len(pool))`` distinct ids, best first."""
        order = list(pool)
        end = len(order)
        while end > 1:
            # As many as the model reads of those that end here.
            last = [c.passage for c in order[max(0, end - self._window) : end][::-1]]
            size = len(fit(last, question, lm_of("rank", self._predictor)))
            start = max(0, end - max(size, 2))
            order[start:end] = self._ranked(question, aspects, order[start:end])
            if start == 0:
                break
            end = start + (end - start) // 2
        return [candidate.passage.id for candidate in order[:k]]

    def _ranked(self, question: str, aspects: Sequence[str], window: list[Candidate]) -> list[Candidate]:
        def accept(out: dspy.Prediction) -> list[int]:
            if not any(1 <= number <= len(window) for number in out.ranking):
                raise RejectedOutputError("no number of a passage is named")
            return out.ranking

        try:
            shown = numbered([candidate.passage for candidate in window])
            given = {"passages": shown, "question": question, "aspects": list(aspects)}
            numbers = call_stage("rank", self._predictor, accept, self._attempts, **given)
        except StageError as failed:
            fall_back("rank", f"{failed.reason}; {len(window)} passages keep the order of the pool")
            return window
        by_id = {candidate.passage.id: candidate for candidate in window}
        ids = [
            window[n - 1].passage.id if 1 <= n <= len(window) else f"\0{n}" for n in numbers
        ]  # an id that no passage has
        ranked, faults = completed(ids, window, len(window))
        if faults:
            fall_back("rank", f"of {len(window)} passages: {', '.join(faults)}; the rest keeps the order of the pool")
        return [by_id[id] for id in ranked]
