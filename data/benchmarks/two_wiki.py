"""2WikiMultihopQA: reasoning over facts of two to four articles."""

from typing import Any

import dspy
import ujson

from ..passages import Passage
from .benchmark import Benchmark, Hub, question
from .contexts import context_passages, supporting_facts, supporting_titles
from .fields import Record, RecordError, identity, text, texts
from .measured import MULTI_HOP, SUPPORT

# Two films, the director of each, then something about both.
_HOPS = {"bridge_comparison": 4}


def read(record: Record) -> dspy.Example:
    """Read a record of the release (lists of pairs) or of the hub (records of lists, or lists written as JSON).

    Its sub-questions are the facts of ``evidences``, written ``subject >> relation``, as MuSiQue writes such hops.
    """
    titles = supporting_titles(record)
    needed = set(titles)
    kind = str(record.get("type") or "")
    return question(
        identity(record, "_id", "id"),
        text(record, "question"),
        texts(record.get("answer") or (), "answer"),
        type=kind,
        hops=_HOPS.get(kind, 2),
        supporting_titles=titles,
        supporting_ids=[held.id for held in passages(record) if held.title in needed],
        sub_questions=[
            {"question": f"{subject} >> {relation}", "answers": [str(found)]}
            for subject, relation, found in _evidences(record.get("evidences") or [])
        ],
        meta={"supporting_facts": supporting_facts(record)},
    )


def passages(record: Record) -> list[Passage]:
    """The ten paragraphs among which two to four are needed."""
    return context_passages("2wikimultihopqa", record)


def _evidences(value: Any) -> list[tuple[str, str, str]]:
    try:
        value = ujson.loads(value) if isinstance(value, str) else value
        if isinstance(value, dict):
            value = zip(value["fact"], value["relation"], value["entity"], strict=True)
        return [
            (one["fact"], one["relation"], one["entity"]) if isinstance(one, dict) else (one[0], one[1], one[2])
            for one in value
        ]
    except (ValueError, KeyError, IndexError, TypeError):
        raise RecordError('"evidences" is not a list of subject, relation and object') from None


TWO_WIKI = Benchmark(
    name="2wikimultihopqa",
    about="questions over facts of 2-4 Wikipedia articles (comparison, inference, compositional), made by templates",
    licence="Apache-2.0",
    hub=Hub("framolfese/2WikiMultihopQA", None, {"tune": "train", "dev": "validation"}),
    read=read,
    metrics=(*MULTI_HOP, *SUPPORT),
    categories=("type", "hops"),
    corpus="the paragraphs that come with the questions, ten each; published scores are over 430,225 abstracts",
    passages=passages,
)
