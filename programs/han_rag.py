"""HANRAG: a question is routed; compound ones are answered part by part at once, complex ones hop by hop.

Source: HANRAG (arXiv 2509.09713), section 3, algorithms 1 and 2. The chains, with ANRAG (:mod:`.blocks.anrag`) as their
link:

- straightforward: answer
- single-step: ANRAG
- compound: decompose -> ANRAG for all parts side by side -> combine
- complex: until the ending judge is content: refine to the next seed question -> ANRAG with it; then combine

The printed algorithm 2 never asks for the ending again inside its loop, and lets the judging model answer the hops;
here the loop ends, and ANRAG answers, as the text of the paper says.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import dspy

from ..data.index.retriever import Retriever
from ..signatures import DecomposeCompound, JudgeEnding, RefineSeedQuestion, RouteQuestion
from ..signatures.merging import SubAnswer
from .blocks.anrag import Anrag, AnragConfig
from .blocks.answering import STYLES, SubQuestion
from .blocks.citations import unmarked
from .blocks.fallbacks import fall_back
from .blocks.interleaving import Stop
from .blocks.parts import at_least, at_most
from .blocks.stage import StageError
from .config import Config
from .program import Program, Result, result
from .trace import step


@dataclass(frozen=True)
class HanRagConfig(AnragConfig):
    """Settings of HANRAG; the switches leave out one stage each, for ablation.

    Attributes:
        max_parts: Most parts of a compound question that are used; further ones are left out, flagged.
        max_steps: Most hops of a complex question.
        router: Without it every question takes the complex chain, which can answer all kinds.
        decomposer: Without it a compound question is looked up as it stands.
        refiner: Without it each hop looks up the question followed by the answers found so far.
        ending: Without it all ``max_steps`` hops are made.

    Example:
        >>> HanRagConfig(relevance=False).relevance
        False
    """

    max_parts: int = 5
    max_steps: int = 5
    router: bool = True
    decomposer: bool = True
    refiner: bool = True
    ending: bool = True


class HanRag(Program):
    """HANRAG over any retriever.

    The result's ``route`` is the question's complexity. A question whose route cannot be told takes the single step.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"route": "straightforward", "answer": "It is."})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = HanRag(None, index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('straightforward', 'It is.')
    """

    config_class: ClassVar[type[Config]] = HanRagConfig
    config: HanRagConfig
    retriever: Retriever

    def __init__(self, config: HanRagConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        style = STYLES[self.config.answers]
        self.route = dspy.Predict(RouteQuestion)
        self.decompose = dspy.Predict(DecomposeCompound)
        self.refine = dspy.Predict(RefineSeedQuestion)
        self.judge_relevance = dspy.Predict(self.config.judgement)
        self.judge_ending = dspy.Predict(JudgeEnding)
        self.answer = dspy.Predict(style.from_passages)
        self.answer_directly = dspy.Predict(style.directly)
        self.combine = dspy.Predict(style.aggregate)

    def forward(self, question: str) -> Result:
        """Answer a question by the chain of its complexity."""
        question = self.check(question)
        chains: dict[str, Callable[[str], Result]] = {
            "straightforward": self._straightforward,
            "single-step": self._single,
            "compound": self._compound,
            "complex": self._complex,
        }
        return chains[self._route(question)](question)

    def _route(self, question: str) -> str:
        if not self.config.router:
            return "complex"
        try:
            return self.call("route", lambda out: str(out.route), question=question)
        except StageError as failed:
            fall_back("route", f"{failed.reason}; a single step instead")
            return "single-step"

    def _straightforward(self, question: str) -> Result:
        return result(self.generate("answer_directly", question=question), route="straightforward", steps=0)

    def _single(self, question: str) -> Result:
        (passages,) = self._anrag.search([question])
        part = self._anrag.reply(question, passages)
        return result(part.answer, route="single-step", passages=part.passages, steps=1)

    def _compound(self, question: str) -> Result:
        questions = self._decompose(question) if self.config.decomposer else [question]
        parts = self._anrag.reply_all(questions, "sub-question")
        return self._combined("compound", question, parts, steps=1)

    def _complex(self, question: str) -> Result:
        hops: list[SubQuestion] = []
        stopped_by: Stop | None = None
        while stopped_by is None:
            if self.config.ending and self._is_enough(question, hops):
                stopped_by = "verdict"
            elif len(hops) == self.config.max_steps:
                stopped_by = "max_steps"
                if self.config.ending:
                    fall_back("judge_ending", f"no end after {len(hops)} hops; answered from what was found")
            else:
                seed, stopped_by = self._next_seed(question, hops)
                if stopped_by is None:
                    hops.append(self._hop(seed, len(hops) + 1))
        return self._combined("complex", question, hops, steps=len(hops), stopped_by=stopped_by)

    def _hop(self, seed: str, number: int) -> SubQuestion:
        # What a hop answers is not the final answer: it does not stream.
        with step("branch", f"hop {number}", seed) as own, dspy.context(send_stream=None):
            (passages,) = self._anrag.search([seed])
            own.outputs = part = self._anrag.part(seed, passages)
        return part

    def _is_enough(self, question: str, hops: Sequence[SubQuestion]) -> bool:
        try:
            return self.call("judge_ending", lambda out: out.verdict == "end", question=question, found=_told(hops))
        except StageError as failed:
            fall_back("judge_ending", f"{failed.reason}; taken not to be the end")
            return False

    def _next_seed(self, question: str, hops: Sequence[SubQuestion]) -> tuple[str, Stop | None]:
        """The next seed question, or what keeps it from being asked."""
        try:
            seed = self._refined(question, hops)
        except StageError as failed:
            fall_back("refine", f"{failed.reason}; " + ("answered from what was found" if hops else "asked as it is"))
            return question, "failure" if hops else None
        if seed.casefold() in (hop.question.casefold() for hop in hops):
            fall_back("refine", f"asked for the same again ({seed}); answered from what was found")
            return seed, "repetition"
        return seed, None

    def _refined(self, question: str, hops: Sequence[SubQuestion]) -> str:
        if not self.config.refiner:
            return " ".join(filter(None, [question, *(unmarked(hop.answer) for hop in hops)]))
        given = {"question": question, "found": _told(hops)}
        return self.call("refine", lambda out: at_least(1, [out.seed_question], "seed questions")[0], **given)

    def _decompose(self, question: str) -> list[str]:
        try:
            parts = self.call(
                "decompose", lambda out: at_least(1, out.sub_questions, "sub-questions"), question=question
            )
        except StageError as failed:
            fall_back("decompose", f"{failed.reason}; looked up as it stands")
            return [question]
        return at_most(self.config.max_parts, parts, "decompose")

    def _combined(
        self, route: str, question: str, parts: Sequence[SubQuestion], *, steps: int, stopped_by: Stop | None = None
    ) -> Result:
        if not parts:
            answer, passages = self.generate("answer_directly", question=question), []
        elif len(parts) == 1 and parts[0].question.casefold() == question.casefold():
            answer, passages = parts[0].answer, parts[0].passages
        else:
            answer, passages = self.merge("combine", parts, "sub_answers", question=question)
        return result(
            answer, route=route, passages=passages, sub_questions=parts, steps=steps, stopped_by=stopped_by
        )  # fmt: skip

    @property
    def _anrag(self) -> Anrag:
        return Anrag(self.config, self.retriever, self.judge_relevance, self.answer, self.answer_directly)


def _told(hops: Sequence[SubQuestion]) -> list[SubAnswer]:
    return [SubAnswer(question=hop.question, answer=unmarked(hop.answer)) for hop in hops]
