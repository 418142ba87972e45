"""RichRAG: sub-aspects are explored, each is looked up, a list-wise ranker picks what covers them, one long answer.

Source: RichRAG (arXiv 2406.12566), section 3:

    explore 2-7 general aspects -> retrieve for "question + aspect", each -> one pool -> rank -> write, cited

The published explorer and writer are tuned Llama models; here they are stages like all others. The ranker is the
published design on the vectors of a sentence encoder (:mod:`.rankers.pointer`), or a language model, or an order that
needs no learning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import dspy

from ..data.index.retriever import Retriever
from ..data.passages import Passage
from ..errors import AspectragError
from ..signatures import ExploreAspects, RankPassages, WriteRichAnswer
from .blocks.answering import SubQuestion
from .blocks.aspects import is_generic
from .blocks.fallbacks import fall_back
from .blocks.parts import at_least, at_most
from .blocks.passages import retrieve
from .blocks.stage import StageError
from .config import Config
from .program import Program, Result, result
from .rankers.candidates import QUESTION, Candidate, pool_of
from .rankers.features import query
from .rankers.lm import LmRanker
from .rankers.pointer import PointerRanker, shipped
from .rankers.ranker import ListwiseRanker, RetrievalOrder, Similarity, completed
from .trace import step

_RANKER = "ranker"


@dataclass(frozen=True)
class RichRagConfig(Config):
    """Settings of RichRAG.

    Attributes:
        k: Passages that the answer is written from.
        per_query: Passages found per aspect.
        pool: Most passages that are ranked; beyond them those go that no aspect ranked well.
        search_question: Whether the bare question is searched too.
        min_aspects: Fewest aspects; with fewer they are asked for again.
        max_aspects: Most aspects that are used; further ones are left out, flagged.
        ranker: ``pointer`` (the trained one), ``lm`` (the language model), ``similarity`` (of the retriever, to the
            question) or ``retrieval`` (the order of the pool).
        window: Passages that ``lm`` is shown at once.
        show_aspects: Whether the writer is told the aspects.

    Example:
        >>> RichRagConfig(ranker="similarity").ranker
        'similarity'
    """

    k: int = 10
    per_query: int = 30
    pool: int = 100
    search_question: bool = True
    min_aspects: int = 2
    max_aspects: int = 7
    ranker: Literal["pointer", "lm", "similarity", "retrieval"] = "pointer"
    window: int = 20
    show_aspects: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_aspects > self.max_aspects:
            raise AspectragError(f"min_aspects {self.min_aspects} and max_aspects {self.max_aspects} leave no room")


class RichRag(Program):
    """RichRAG over any retriever.

    The result's ``sub_questions`` are the aspects, each with those of the ranked passages that it found. Where no
    aspects can be had, the question alone is looked up.

    Args:
        config: Its settings.
        retriever: Where passages come from.
        ranker: Takes the place of the configured one: a trained one, an oracle, one of your own.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"aspects": ["cost"], "sentences": [{"sentence": "It is.", "passages": [1]}]})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = RichRag(RichRagConfig(ranker="retrieval", min_aspects=1), index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('rich', 'It is. [1]')
    """

    config_class: ClassVar[type[Config]] = RichRagConfig
    config: RichRagConfig
    retriever: Retriever

    def __init__(
        self,
        config: RichRagConfig | None = None,
        retriever: Retriever | None = None,
        ranker: ListwiseRanker | None = None,
    ) -> None:
        super().__init__(config, retriever)
        self.explore = dspy.Predict(ExploreAspects)
        self.rank = dspy.Predict(RankPassages)
        self.write = dspy.Predict(WriteRichAnswer)
        self.ranker = ranker

    def forward(self, question: str, aspects: Sequence[str] | None = None) -> Result:
        """Answer a question; ``aspects``, where they are known, take the place of the explored ones."""
        question = self.check(question)
        aspects = self.explored(question) if aspects is None else given_aspects(aspects)
        pool = self.pool(question, aspects)
        ranked = self.ranked(question, aspects, pool)
        answer, shown = self.written(question, aspects, ranked)
        parts = [SubQuestion(a, "", tuple(c.passage for c in ranked if a in c.ranks)) for a in aspects]
        return result(answer, route="rich", passages=shown, sub_questions=parts, steps=1)

    def explored(self, question: str) -> list[str]:
        """Two to seven general aspects of the question; none where the model gives none."""

        def accept(out: dspy.Prediction) -> tuple[list[str], int]:
            named = at_least(self.config.min_aspects, out.aspects, "distinct aspects")
            generic = [aspect for aspect in named if is_generic(aspect, question)]
            at_least(self.config.min_aspects, generic, "general aspects")
            return generic, len(named) - len(generic)

        try:
            aspects, dropped = self.call("explore", accept, question=question)
        except StageError as failed:
            fall_back("explore", f"{failed.reason}; the question alone is looked up")
            return []
        if dropped:
            fall_back("explore", f"{dropped} of {len(aspects) + dropped} aspects state facts and are left out")
        return at_most(self.config.max_aspects, aspects, "explore")

    def pool(self, question: str, aspects: Sequence[str]) -> list[Candidate]:
        """What the aspects find, merged; each candidate knows which of them found it."""
        names = [QUESTION, *aspects] if self.config.search_question or not aspects else list(aspects)
        found = retrieve(self.retriever, [query(question, name) for name in names], self.config.per_query)
        for name, passages in zip(names, found, strict=True):
            if not passages and name != QUESTION:
                fall_back("retrieve", f"nothing was found for the aspect {name!r}")
        return pool_of(names, found, self.config.pool)

    def ranked(self, question: str, aspects: Sequence[str], pool: Sequence[Candidate]) -> list[Candidate]:
        """The ``k`` candidates to read, best first; what a ranker leaves out follows in the order of the pool."""
        chosen = self.ranker or self._configured()
        if isinstance(chosen, PointerRanker):
            chosen = chosen.over(self.retriever)
        given = {"ranker": type(chosen).__name__, "aspects": list(aspects), "pool": [c.to_dict() for c in pool]}
        with step("retrieval", "rank", given) as own:
            ids, faults = completed(chosen.rank(question, aspects, pool, self.config.k), pool, self.config.k)
            if faults:
                fall_back("rank", f"{', '.join(faults)}; filled in the order of the pool")
            by_id = {candidate.passage.id: candidate for candidate in pool}
            ranked = [by_id[id] for id in ids]
            own.outputs = [candidate.to_dict() for candidate in ranked]
        return ranked

    def written(self, question: str, aspects: Sequence[str], ranked: Sequence[Candidate]) -> tuple[str, list[Passage]]:
        """The answer from ranked candidates, cited sentence by sentence, and the passages that the model was shown."""
        told = list(aspects) if self.config.show_aspects else []
        return self.answer_from("write", [c.passage for c in ranked], question=question, aspects=told)

    def _configured(self) -> ListwiseRanker:
        match self.config.ranker:
            case "pointer":
                return shipped()
            case "lm":
                return LmRanker(self.rank, self.config.window, self.config.max_attempts)
            case "similarity":
                return Similarity(self.retriever)
            case "retrieval":
                return RetrievalOrder()

    def save(self, path: str | Path, *args: Any, meta: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """As every program; a trained ranker is written beside it, into ``ranker/``."""
        # First, as the manifest comes last: a folder that has one has its ranker too.
        if isinstance(self.ranker, PointerRanker) and Path(path).suffix != ".json":
            self.ranker.save(Path(path) / _RANKER)
        super().save(path, *args, meta=meta, **kwargs)

    @classmethod
    def load(cls, path: str | Path, retriever: Retriever | None = None) -> Self:
        """As every program, with the trained ranker where there is one."""
        program = super().load(path, retriever)
        if (Path(path) / _RANKER).is_dir():
            program.ranker = PointerRanker.load(Path(path) / _RANKER)
        return program


def given_aspects(aspects: Sequence[str]) -> list[str]:
    """Aspects as a user gives them, each once.

    Raises:
        AspectragError: It is a single string, whose letters would be looked up one by one.
    """
    if isinstance(aspects, str):
        raise AspectragError(f"aspects must be a list of phrases, not the string {aspects!r}")
    return at_least(0, aspects, "aspects")
