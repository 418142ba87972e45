"""Every question with what each run made of it: rendered one by one, packed, and put together by the page."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import dspy
from jinja2 import Environment
from tqdm.auto import tqdm

from ....errors import AspectragError
from ....optimizers.evaluation.diagnosing import known_of
from ....optimizers.evaluation.run import Run, Scored
from ....programs.showing.answers import linked
from ....programs.showing.known import Known
from ....programs.showing.pages import packed
from ....programs.showing.traces import record_html
from ....programs.trace import Trace


@dataclass
class Entry:
    """A question on the page.

    Attributes:
        key: What its elements are called.
        question: What was asked, and what is known about it.
        scored: What it scored, by the place of the run; runs that were not asked are not in it.
        texts: What a reader may search for.
        packs: The packed parts of its view, by id: question, then a part per run and, in it, the trace.
    """

    key: str
    question: dspy.Example
    scored: dict[int, Scored] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    packs: dict[str, str] = field(default_factory=dict)

    @property
    def categories(self) -> dict[str, str]:
        """Its values of the benchmark's categories."""
        return next((scored.categories for scored in self.scored.values()), {})

    @property
    def failed(self) -> bool:
        """Whether a run failed to answer it."""
        return any(scored.error is not None for scored in self.scored.values())

    @property
    def parts(self) -> list[str]:
        """The packs that make up its view; those of traces wait for a reader."""
        return [id for id in self.packs if not id.endswith("t")]


def entries(
    runs: Sequence[Run],
    names: Sequence[str],
    environment: Environment,
    *,
    limit: int | None = None,
    traces: bool = True,
    progress: bool = True,
) -> list[Entry]:
    """The questions of all runs, in the order in which the first run has them, then those of the others alone.

    Args:
        runs: Scored ones.
        names: What they are called.
        environment: See :func:`....programs.showing.pages.templates`.
        limit: Most questions.
        traces: Whether traces come with them.
        progress: Whether to show a bar.
    """
    found: dict[tuple[str, str], Entry] = {}
    for run in runs:
        for question in run.questions:
            # An id alone may mean another question in another set.
            key = (question.id, question.question)
            if key not in found and (limit is None or len(found) < limit):
                found[key] = Entry(f"q{len(found)}", question, texts=_known(question))
    view, part = environment.get_template("question.html"), environment.get_template("answer.html")
    for entry in found.values():
        entry.packs[entry.key] = packed(view.render(question=entry.question.toDict()))
    total = sum(len(run.questions) for run in runs)
    with tqdm(total=total, desc="rendering", unit="answer", disable=None if progress else True) as bar:
        for place, (run, name) in enumerate(zip(runs, names, strict=True)):
            scored = {each.id: each for each in run.scored()}
            for question, record in run.answers():
                bar.update()
                entry = found.get((question.id, question.question))
                if entry is None or question.id not in scored:
                    continue
                id = f"{entry.key}r{place}"
                trace, unread = _trace(run, question.id) if traces else (None, "")
                known = known_of(question, record, scored[question.id], trace) if trace else Known()
                entry.scored[place] = scored[question.id]
                entry.texts.append(record.get("answer") or record.get("error") or "")
                entry.packs[id] = packed(
                    part.render(
                        id=id, place=place, name=name, record=record, scores=scored[question.id].scores,
                        answer=linked(record), trace=f"{id}t" if trace else "", known=known, unread=unread,
                    )
                )  # fmt: skip
                if trace:
                    view = record_html(trace.to_dict(), environment, id=f"{id}t", known=known)
                    entry.packs[f"{id}t"] = packed(view)
    return list(found.values())


def _known(question: dspy.Example) -> list[str]:
    return [question.id, question.question, *map(str, question.get("answers") or [])]


def _trace(run: Run, id: str) -> tuple[Trace | None, str]:
    """The trace of an answer, or why it cannot be read: one damaged file does not keep the others from being shown."""
    try:
        return run.trace(id), ""
    except AspectragError as error:
        return None, str(error)
