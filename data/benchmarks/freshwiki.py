"""FreshWiki: recent Wikipedia articles, section by section."""

from collections.abc import Iterator
from typing import Any

import dspy

from ..passages import Passage
from .benchmark import Benchmark, question
from .fields import Record, RecordError, cut, rows, text
from .measured import ASPECTS, SUPPORT


def read(record: Record) -> dspy.Example:
    """Read an article: ``title``, ``summary``, and ``content`` in sections of sentences, which are its aspects."""
    title = _title(record)
    sections = _sections(record)
    if not sections:
        raise RecordError('"content" holds no section with a sentence')
    summary = str(record.get("summary") or "").strip()
    return question(
        title,
        f"Write about {title}: {', '.join(aspect for aspect, _ in sections)}.",
        ["\n\n".join([summary, *(body for _, body in sections)]).strip()],
        type="aspect-summary",
        supporting_titles=[title],
        supporting_ids=[one.id for one in passages(record)],
        sub_questions=[{"question": aspect, "answers": [body]} for aspect, body in sections],
        meta={"url": str(record.get("url") or "")},
    )


def passages(record: Record) -> list[Passage]:
    """The article itself, in passages of about 100 words."""
    bodies = [str(record.get("summary") or ""), *(f"{aspect}. {body}" for aspect, body in _sections(record))]
    return cut("freshwiki", _title(record), bodies)


def _title(record: Record) -> str:
    return text(record, "title").replace("_", " ").strip()


def _sections(record: Record) -> list[tuple[str, str]]:
    sections = []
    for section in rows(record.get("content") or (), "content"):
        if body := " ".join(_sentences(section)):
            sections.append((text(section, "section_title").strip(), body))
    return sections


def _sentences(section: dict[str, Any]) -> Iterator[str]:
    """The sentences of a section and of those below it; in the release they have lost their full stops."""
    for sentence in rows(section.get("section_content") or (), "section_content"):
        if said := str(sentence.get("sentence") or "").strip():
            yield said if said[-1] in ".!?:" else f"{said}."
    for below in rows(section.get("subsections") or (), "subsections"):
        yield from _sentences(below)


FRESHWIKI = Benchmark(
    name="freshwiki",
    about="articles to be written section by section: 100 that were edited most in 2022 and 2023",
    licence="CC BY-SA 4.0",
    hub=None,
    read=read,
    metrics=(*ASPECTS, *SUPPORT),
    corpus="the articles themselves",
    passages=passages,
    origin="huggingface.co/datasets/EchoShao8899/FreshWiki, folder json (one article per file)",
)
