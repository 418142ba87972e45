"""WikiAsp: articles written aspect by aspect, from the sources that they cite."""

import dspy

from ..passages import Passage
from .benchmark import Benchmark, Hub, question
from .fields import Record, RecordError, cut, identity, texts
from .measured import ASPECTS, SUPPORT


def read(record: Record) -> dspy.Example | None:
    """Read ``exid``, ``inputs`` (sentences of cited sources) and ``targets`` (pairs of an aspect and its text).

    The release does not name the article: without a ``title``, the question points to its sources, which only their
    own passages can answer. A record without a text to any aspect is left out.
    """
    targets = record.get("targets")
    if not isinstance(targets, list) or not all(isinstance(one, list | tuple) and len(one) == 2 for one in targets):
        raise RecordError('"targets" is not a list of pairs of an aspect and its text')
    sections = [(str(aspect).replace("_", " "), str(body).strip()) for aspect, body in targets if str(body).strip()]
    if not sections:
        return None
    title = str(record.get("title") or "")
    aspects = ", ".join(aspect for aspect, _ in sections)
    return question(
        identity(record, "exid", "id"),
        f"Write about {title or 'the subject of these sources'}: {aspects}.",
        ["\n\n".join(body for _, body in sections)],
        type="aspect-summary",
        supporting_ids=[one.id for one in passages(record)],
        supporting_titles=[title] if title else [],
        sub_questions=[{"question": aspect, "answers": [body]} for aspect, body in sections],
        meta={"domain": str(record.get("domain") or "")},
    )


def passages(record: Record) -> list[Passage]:
    """The cited sources, in passages of about 100 words."""
    return cut("wikiasp", str(record.get("title") or ""), [" ".join(texts(record.get("inputs") or (), "inputs"))])


WIKIASP = Benchmark(
    name="wikiasp",
    about="articles to be written aspect by aspect from the sources they cite, in 20 domains",
    licence="CC BY-SA 4.0",
    hub=Hub("RUC-NLPIR/FlashRAG_datasets", "wikiasp", {"tune": "train", "dev": "dev"}),
    read=read,
    metrics=(*ASPECTS, *SUPPORT),
    categories=("type", "domain"),
    corpus="the cited sources that come with the records of the release",
    passages=passages,
    origin="github.com/neulab/wikiasp",
)
