"""Contexts and supporting facts, as HotpotQA brought them in: titled paragraphs in sentences, and which are needed."""

from ..passages import Passage
from .fields import Record, pairs, passage


def context_passages(prefix: str, record: Record) -> list[Passage]:
    r"""The paragraphs of ``context``: pairs of a title and sentences, or a record of both lists.

    Example:
        >>> [p.contents for p in context_passages("x", {"context": [["Oder", ["A river.", " It is long."]]]})]
        ['Oder\nA river. It is long.']
    """
    paragraphs = pairs(record.get("context") or [], "context", "title", "sentences")
    return [passage(prefix, str(title), _joined(sentences)) for title, sentences in paragraphs]


def supporting_titles(record: Record) -> list[str]:
    """Titles of the paragraphs that ``supporting_facts`` names, each once."""
    facts = pairs(record.get("supporting_facts") or [], "supporting_facts", "title", "sent_id")
    return list(dict.fromkeys(str(title) for title, _ in facts))


def supporting_facts(record: Record) -> list[list[object]]:
    """The pairs of title and number of sentence."""
    return [list(fact) for fact in pairs(record.get("supporting_facts") or [], "supporting_facts", "title", "sent_id")]


def _joined(sentences: object) -> str:
    """Sentences as one text: some releases keep the blank before each, others do not."""
    if isinstance(sentences, str):
        return sentences
    parts = list(map(str, sentences)) if isinstance(sentences, list | tuple) else []
    return "".join(part if not number or part[:1].isspace() else f" {part}" for number, part in enumerate(parts))
