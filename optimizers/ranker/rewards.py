"""What a list of passages earns: by what it covers, or by the answer that is written from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from ...programs.blocks.citations import unmarked
from ...programs.blocks.concurrent import run_all
from ...programs.rich_rag import RichRag
from ..metrics.com_rouge import com_rouge
from ..metrics.rouge import VARIANTS, rouge
from .examples import RankingExample


class Reward(Protocol):
    """Gives each list of a question what it earns, higher is better."""

    def __call__(self, example: RankingExample, lists: Sequence[Sequence[int]]) -> list[float]:
        """One number per list; lists are places in the question's pool."""
        ...


@dataclass(frozen=True)
class CoverageReward:
    """DIV of the list: how near it comes to the silver list. Needs no language model.

    Attributes:
        k: Length at which lists are compared.
    """

    k: int = 10

    def __call__(self, example: RankingExample, lists: Sequence[Sequence[int]]) -> list[float]:
        """DIV of each list."""
        return [example.div(order, self.k) for order in lists]


@dataclass(frozen=True)
class AnswerReward:
    """Quality and coverage of the answer that the program's writer makes of the list, by the language model in force.

    The mean of ROUGE-1, 2 and L (F1) with the long answer, plus ``weight`` times the mean of Com-ROUGE-1, 2 and L. The
    published mixture is not known: this one is ours.

    Attributes:
        program: Writes the answers.
        weight: Of coverage beside quality.
    """

    program: RichRag
    weight: float = 1.0

    def __call__(self, example: RankingExample, lists: Sequence[Sequence[int]]) -> list[float]:
        """What the answer from each list earns; all are written at once."""

        def written(order: Sequence[int]) -> str:
            ranked = [example.pool[place] for place in order]
            return self.program.written(example.example.question, example.aspects, ranked)[0]

        return [self.of_answer(example, answer) for answer in run_all(written, lists, "list")]

    def of_answer(self, example: RankingExample, answer: str) -> float:
        """What an answer earns."""
        said, given = unmarked(answer), example.example
        quality = fmean(rouge(said, given.get("answers") or [" ".join(given.sub_answers)], v) for v in VARIANTS)
        return quality + self.weight * fmean(com_rouge(said, given.sub_answers, v) for v in VARIANTS)
