"""WikiPassageQA: long Wikipedia articles in which several passages answer a question."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import ujson

from ...errors import AspectragError
from ..passages import Passage
from .benchmark import Benchmark, Hub, question
from .fields import Record, RecordError, identity, text
from .measured import ASPECTS, SUPPORT

DOCUMENTS = "document_passages.json"


def read(record: Record) -> dspy.Example:
    """Read a row: ``QID``, ``Question``, ``DocumentID``, ``DocumentName``, ``RelevantPassages``.

    Where the layout put the passages of the document beside the row, the relevant ones are the answer.
    """
    document = text(record, "DocumentID")
    try:
        numbers = [int(number) for number in text(record, "RelevantPassages").split(",")]
    except ValueError:
        raise RecordError('"RelevantPassages" is no list of numbers') from None
    title = str(record.get("DocumentName") or "").removesuffix(".html").replace("_", " ")
    held = record.get("passages") or {}
    answer = " ".join(held[str(number)].strip() for number in numbers if str(number) in held)
    return question(
        identity(record, "QID", "id"),
        text(record, "Question"),
        [answer] if answer else [],
        type="non-factoid",
        hops=1,
        supporting_ids=[f"{document}_{number}" for number in numbers],
        supporting_titles=[title] if title else [],
        meta={"document_id": document, "relevant_passages": numbers},
    )


def documents(folder: Path) -> dict[str, dict[str, str]]:
    """Passages by document and number, of ``document_passages.json``; none where the file is not there.

    Raises:
        AspectragError: It is of another schema.
    """
    path = folder / DOCUMENTS
    if not path.exists():
        return {}
    try:
        found: Any = ujson.loads(path.read_text(encoding="utf-8"))
        return {str(key): {str(n): str(body) for n, body in held.items()} for key, held in found.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise AspectragError(f"{path} does not hold passages by document and number ({error})") from None


def collection(held: dict[str, dict[str, str]]) -> Iterator[Passage]:
    """All passages, under the ids that questions name."""
    for document, bodies in held.items():
        for number, body in bodies.items():
            if body.strip():
                yield Passage(f"{document}_{number}", "", body.strip())


WIKIPASSAGEQA = Benchmark(
    name="wikipassageqa",
    about="non-factoid questions on long Wikipedia articles, answered by several of their passages",
    licence="not stated; its texts are Wikipedia's",
    hub=Hub("RUC-NLPIR/FlashRAG_datasets", "wikipassageqa", {"tune": "train", "dev": "dev"}),
    read=read,
    metrics=(*ASPECTS, *SUPPORT),
    corpus=f"the passages of its articles, in {DOCUMENTS}",
    origin="ciir.cs.umass.edu/downloads/wikipassageqa",
)
