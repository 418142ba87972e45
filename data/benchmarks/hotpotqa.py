"""HotpotQA: two articles to put together."""

import dspy

from ..passages import Passage
from .benchmark import Benchmark, Hub, question
from .contexts import context_passages, supporting_facts, supporting_titles
from .fields import Record, identity, text, texts
from .measured import MULTI_HOP, SUPPORT


def read(record: Record) -> dspy.Example:
    """Read a record of the release (``_id``, lists of pairs) or of the hub (``id``, records of lists)."""
    titles = supporting_titles(record)
    needed = set(titles)
    return question(
        identity(record, "_id", "id"),
        text(record, "question"),
        texts(record.get("answer") or (), "answer"),
        type=str(record.get("type") or ""),
        hops=2,
        supporting_titles=titles,
        supporting_ids=[held.id for held in passages(record) if held.title in needed],
        meta={"level": record.get("level"), "supporting_facts": supporting_facts(record)},
    )


def passages(record: Record) -> list[Passage]:
    """The ten paragraphs among which two are needed."""
    return context_passages("hotpotqa", record)


HOTPOTQA = Benchmark(
    name="hotpotqa",
    about="questions over two Wikipedia articles (bridge, comparison), asked of crowd workers",
    licence="CC BY-SA 4.0",
    hub=Hub("hotpotqa/hotpot_qa", "distractor", {"tune": "train", "dev": "validation"}),
    read=read,
    metrics=(*MULTI_HOP, *SUPPORT),
    corpus="the paragraphs that come with the questions, ten each; published scores are over 5.2 million abstracts",
    passages=passages,
)
