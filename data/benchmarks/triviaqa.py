"""TriviaQA: what quizzes ask."""

import dspy

from .benchmark import Benchmark, Hub, question
from .fields import Record, RecordError, field, identity, text, texts
from .measured import SHORT


def read(record: Record) -> dspy.Example | None:
    """Read a record of the hub, or of the release (keys in capitals); one of the test split has no answer: left out."""
    name = identity(record, "question_id", "QuestionId", "id")
    asked = text(record, "question", "Question")
    if record.get("Answer", record.get("answer", ...)) is None:
        return None
    answer = field(record, "answer", "Answer")
    if not isinstance(answer, dict):
        raise RecordError('"answer" is not a record with "value" and "aliases"')
    value = str(answer.get("value") or answer.get("Value") or "")
    answers = texts([value, *texts(answer.get("aliases") or answer.get("Aliases") or (), "aliases")], "answer")
    hidden = not answers or value == "<unk>"
    return None if hidden else question(name, asked, answers, type="single", hops=1)


TRIVIAQA = Benchmark(
    name="triviaqa",
    about="questions of quizzes, with all names of the answer",
    licence="Apache-2.0",
    hub=Hub("mandarjoshi/trivia_qa", "rc.nocontext", {"tune": "train", "dev": "validation"}),
    read=read,
    metrics=SHORT,
    corpus="none of its own; Wikipedia, in 21 million passages of 100 words for published scores",
)
