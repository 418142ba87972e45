"""Questions with answers of known worth by language models: what LINKAGE ranks against."""

import random
from collections.abc import Sequence

import dspy

from ..data.construction.references import Draft, GradeError, Meant, distinct, graded
from ..errors import AspectragError
from ..signatures.construction import GradeAnswers, NumberedAnswer, RewriteAnswer, WriteGradedAnswers
from ..signatures.typed import ClassifyQuestion
from ..texts import encodable
from .blocks.stage import RejectedOutputError, StageError, call_stage, lm_of


class QuestionLabeller(dspy.Module):
    """Says of what type a question is, as NF-CATS does.

    Args:
        max_attempts: Calls per question before it is given up.

    Example:
        >>> from aspectrag.lms import scripted_lm
        >>> with dspy.context(lm=scripted_lm({"type": "REASON"})):
        ...     QuestionLabeller()(question="Why is the sky blue?").type
        'REASON'
    """

    def __init__(self, max_attempts: int = 3) -> None:
        super().__init__()
        self.max_attempts = max_attempts
        self.classify = dspy.Predict(ClassifyQuestion)

    def forward(self, question: str) -> dspy.Prediction:
        """Label a question.

        Returns:
            A prediction with ``type``.

        Raises:
            AspectragError: No attempt gave a label.
            dspy.LMError: The language model cannot be reached or refuses to answer.
        """
        given = {"question": encodable(question)}
        try:
            label = call_stage("classify", self.classify, lambda out: str(out.type), self.max_attempts, **given)
        except StageError as error:
            raise AspectragError(f"no type: {error.reason}") from error
        return dspy.Prediction(type=label)


class ReferenceWriter(dspy.Module):
    """Writes answers of several qualities to a question, and has them graded from 0 to 3, all beside one another.

    The judge sees them in an order that tells nothing, and not what they were meant to be. What a writer fails to
    write is left out: with one rewriting and three writers there are 2 to 11 references.

    Source: Typed-RAG (arXiv 2503.15879), section 4.1. The prompts are ours.

    Args:
        writers: Language models that write answers; by default the one of the stage ``write`` alone. Rewriting and
            grading have stages of their own, ``rewrite`` and ``grade``.
        max_attempts: Calls per stage before it is given up.

    Example:
        >>> from aspectrag.lms import scripted_lm
        >>> said = {"better": "It was the rain.", "good": "Rain.", "flawed": "Weather.", "off_topic": "No."}
        >>> with dspy.context(lm=scripted_lm({**said, "grades": [3, 3, 0, 1, 2]}, name="x")):
        ...     references = ReferenceWriter()(question="Why?", answer="the rain").references
        >>> [reference["meant"] for reference in references]
        ['gold', 'superior', 'good', 'flawed', 'off-topic']
        >>> sorted(reference["label"] for reference in references)
        [0, 1, 2, 3, 3]
    """

    def __init__(self, writers: Sequence[dspy.BaseLM] = (), max_attempts: int = 3) -> None:
        super().__init__()
        self.writers = list(writers)
        self.max_attempts = max_attempts
        self.rewrite = dspy.Predict(RewriteAnswer)
        self.write = dspy.Predict(WriteGradedAnswers)
        self.grade = dspy.Predict(GradeAnswers)

    def forward(self, question: str, answer: str) -> dspy.Prediction:
        """Write and grade.

        Args:
            question: The question.
            answer: The gold answer; one, also where it lists several things.

        Returns:
            A prediction with ``references``: ``text``, ``label``, ``source`` (gold or a model), ``meant``.

        Raises:
            AspectragError: Nothing was written beside the gold answer, or no attempt to grade was good.
            dspy.LMError: A language model cannot be reached or refuses to answer.
        """
        question, answer = encodable(question).strip(), encodable(answer).strip()
        drafts = [Draft(answer, "gold", "gold"), *self._rewritten(question, answer)]
        for writer in self.writers or [lm_of("write")]:
            with dspy.context(roles={**(dspy.settings.get("roles") or {}), "write": writer}):
                drafts += self._written(question, answer)
        drafts = distinct(drafts)
        if len(drafts) < 2:
            raise AspectragError("no references: nothing was written beside the gold answer")
        order = random.Random(question).sample(range(len(drafts)), len(drafts))

        def accept(out: dspy.Prediction) -> list[dict]:
            if len(out.grades) != len(order):
                raise RejectedOutputError(f"{len(out.grades)} grades for {len(order)} answers")
            by_place = dict(zip(order, out.grades, strict=True))
            try:
                return graded(drafts, [by_place[place] for place in range(len(drafts))])
            except GradeError as error:
                raise RejectedOutputError(str(error)) from error

        answers = [NumberedAnswer(number=n, text=drafts[place].text) for n, place in enumerate(order, 1)]
        given = {"question": question, "right_answer": answer, "answers": answers}
        try:
            references = call_stage("grade", self.grade, accept, self.max_attempts, **given)
        except StageError as error:
            raise AspectragError(f"no grades: {error.reason}") from error
        return dspy.Prediction(references=references)

    def _rewritten(self, question: str, answer: str) -> list[Draft]:
        given = {"question": question, "answer": answer}
        try:
            better = call_stage("rewrite", self.rewrite, lambda out: str(out.better), self.max_attempts, **given)
        except StageError:
            return []
        return [_draft(better, "rewrite", "superior")]

    def _written(self, question: str, answer: str) -> list[Draft]:
        given = {"question": question, "answer": answer}
        try:
            out = call_stage("write", self.write, lambda out: out, self.max_attempts, **given)
        except StageError:
            return []
        qualities: dict[Meant, str] = {"good": out.good, "flawed": out.flawed, "off-topic": out.off_topic}
        return [_draft(text, "write", meant) for meant, text in qualities.items()]


def _draft(text: str, stage: str, meant: Meant) -> Draft:
    return Draft(encodable(text).strip(), str(getattr(lm_of(stage), "model", "a model")), meant)
