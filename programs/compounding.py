"""Compound questions by a language model: easy questions about passages, and several of them joined into one."""

from collections.abc import Callable, Sequence

import dspy

from ..data.construction.checks import QuestionError, check_easy, check_joined
from ..errors import AspectragError
from ..signatures.construction import JoinQuestions, WriteEasyQuestion
from ..texts import encodable
from .blocks.stage import RejectedOutputError, StageError, call_stage


class EasyQuestionWriter(dspy.Module):
    """Writes one easy question about the entity of a passage, with the few words of the passage that answer it.

    Source: HANRAG (arXiv 2509.09713), its compound benchmark.

    Args:
        max_attempts: Calls per passage before it is given up.

    Example:
        >>> from aspectrag.lms import scripted_lm
        >>> reply = {"question": "Where does the Danube rise?", "answer": "Donaueschingen"}
        >>> with dspy.context(lm=scripted_lm(reply)):
        ...     out = EasyQuestionWriter()(entity="Danube", passage="It rises at Donaueschingen.")
        >>> out.question, out.answer
        ('Where does the Danube rise?', 'Donaueschingen')
    """

    def __init__(self, max_attempts: int = 3) -> None:
        super().__init__()
        self.max_attempts = max_attempts
        self.ask = dspy.Predict(WriteEasyQuestion)

    def forward(self, entity: str, passage: str) -> dspy.Prediction:
        """Write the question.

        Args:
            entity: What the passage is about.
            passage: Its text.

        Returns:
            A prediction whose ``question`` and ``answer`` pass :func:`check_easy`.

        Raises:
            AspectragError: No attempt was good; says what was wrong with the last.
            dspy.LMError: The language model cannot be reached or refuses to answer.
        """
        entity, passage = encodable(entity), encodable(passage)

        def accept(out: dspy.Prediction) -> dspy.Prediction:
            question, answer = _line(out.question), _line(out.answer).rstrip(".")
            _checked(lambda: check_easy(question, answer, passage, entity))
            return dspy.Prediction(question=question, answer=answer)

        try:
            return call_stage("ask", self.ask, accept, self.max_attempts, entity=entity, passage=passage)
        except StageError as error:
            raise AspectragError(f"no easy question: {error.reason}") from error


class QuestionJoiner(dspy.Module):
    """Joins questions about one entity into one fluent question, unless the model says that they cannot be joined.

    Source: HANRAG (arXiv 2509.09713), its compound benchmark.

    Args:
        max_attempts: Calls per compound question before it is given up.

    Example:
        >>> from aspectrag.lms import scripted_lm
        >>> joined = "Where does the Danube rise, and where does it end?"
        >>> with dspy.context(lm=scripted_lm({"can_be_joined": True, "question": joined})):
        ...     parts = ["Where does the Danube rise?", "Where does the Danube end?"]
        ...     QuestionJoiner()(entity="Danube", questions=parts, answers=["Donaueschingen", "the Black Sea"]).question
        'Where does the Danube rise, and where does it end?'
    """

    def __init__(self, max_attempts: int = 3) -> None:
        super().__init__()
        self.max_attempts = max_attempts
        self.join = dspy.Predict(JoinQuestions)

    def forward(self, entity: str, questions: Sequence[str], answers: Sequence[str]) -> dspy.Prediction:
        """Join the questions.

        Args:
            entity: What they are all about.
            questions: Two to four.
            answers: An answer to each; the model does not see them, they must not turn up in what it writes.

        Returns:
            A prediction whose ``question`` passes :func:`check_joined`; ``None`` where they cannot be joined.

        Raises:
            AspectragError: No attempt was good; says what was wrong with the last.
            dspy.LMError: The language model cannot be reached or refuses to answer.
        """
        entity, questions = encodable(entity), [encodable(question) for question in questions]

        def accept(out: dspy.Prediction) -> str | None:
            if not out.can_be_joined:
                return None
            question = _line(out.question)
            _checked(lambda: check_joined(question, questions, answers))
            return question

        try:
            question = call_stage("join", self.join, accept, self.max_attempts, entity=entity, questions=questions)
        except StageError as error:
            raise AspectragError(f"not joined: {error.reason}") from error
        return dspy.Prediction(question=question)


def _line(text: str) -> str:
    return " ".join(encodable(text).split())


def _checked(check: Callable[[], None]) -> None:
    try:
        check()
    except QuestionError as error:
        raise RejectedOutputError(str(error)) from error
