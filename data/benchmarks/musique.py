"""MuSiQue: questions composed of two to four that depend on one another."""

import dspy

from ..passages import Passage
from .benchmark import Benchmark, Hub, question
from .fields import Record, identity, passage, rows, text, texts
from .measured import MULTI_HOP, SUPPORT


def read(record: Record) -> dspy.Example | None:
    """Read a record of MuSiQue-Ans; one of MuSiQue-Full that cannot be answered is left out."""
    if record.get("answerable") is False:
        return None
    name = identity(record)
    held = list(zip(rows(record.get("paragraphs") or (), "paragraphs"), passages(record), strict=True))
    by_place = {paragraph.get("idx", place): one for place, (paragraph, one) in enumerate(held)}
    supporting = [one for paragraph, one in held if paragraph.get("is_supporting")]
    parts = rows(record.get("question_decomposition") or (), "question_decomposition")
    answers = [text(record, "answer"), *texts(record.get("answer_aliases") or (), "answer_aliases")]
    sub_questions = []
    for part in parts:
        support = by_place.get(part.get("paragraph_support_idx"))
        sub_questions.append(
            {"question": text(part, "question"), "answers": texts(part.get("answer") or (), "answer")}
            | ({"supporting_id": support.id} if support else {})
        )
    return question(
        name,
        text(record, "question"),
        list(dict.fromkeys(answers)),
        type=name.partition("__")[0] if "__" in name else "",
        hops=len(parts) or None,
        supporting_titles=list(dict.fromkeys(one.title for one in supporting)),
        supporting_ids=list(dict.fromkeys(one.id for one in supporting)),
        sub_questions=sub_questions,
    )


def passages(record: Record) -> list[Passage]:
    """The twenty paragraphs among which two to four are needed."""
    return [
        passage("musique", str(one.get("title") or ""), text(one, "paragraph_text"))
        for one in rows(record.get("paragraphs") or (), "paragraphs")
    ]


MUSIQUE = Benchmark(
    name="musique",
    about="questions of 2-4 hops composed of single-hop ones, each hop with its answer",
    licence="CC BY 4.0",
    hub=Hub("dgslibisey/MuSiQue", None, {"tune": "train", "dev": "validation"}),
    read=read,
    metrics=(*MULTI_HOP, *SUPPORT),
    categories=("type", "hops"),
    corpus="the paragraphs that come with the questions, twenty each; published scores are over 139,416",
    passages=passages,
)
