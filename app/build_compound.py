"""``aspectrag data build compound``: several questions about one thing, asked at once."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer

from ..data.construction.compound import Group, Part, compound_record, groups, join_verbatim, single_parts
from ..data.construction.entities import Entity, entities
from ..data.construction.records import Results, Task
from ..data.construction.splitting import split
from ..data.construction.twins import renamed, twins
from ..data.corpus import load_corpus
from ..data.growing import write_passages
from ..data.passages import Passage
from ..errors import AspectragError
from ..lms import load, roles
from ..programs.compounding import EasyQuestionWriter, QuestionJoiner
from ..texts import encodable
from .building import Out, Seed, Workers, folder, tell, work_folder, write_parts
from .options import ApiBase, Lm
from .progress import load_model
from .working import work_through


def compound(
    out: Out,
    corpus: Annotated[
        list[Path] | None, typer.Argument(help="Files and folders of passages with titles; a title is an entity.")
    ] = None,
    from_questions: Annotated[
        list[Path] | None,
        typer.Option(
            help="Join these questions as they stand, and ask no model: JSON lines with question, answers, "
            "supporting_titles and supporting_ids; those of one title come together. Can be given again."
        ),
    ] = None,
    lm: Lm = None,
    api_base: ApiBase = None,
    workers: Workers = 8,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask about a random sample of so many titles.", show_default="all")
    ] = None,
    documents: Annotated[int, typer.Option(min=2, help="Passages of a title that are asked about, at most.")] = 10,
    dev: Annotated[float, typer.Option(min=0, max=0.9, help="Share of the questions in dev.jsonl.")] = 0.1,
    test: Annotated[float, typer.Option(min=0, max=0.9, help="Share of the questions in test.jsonl.")] = 0.1,
    seed: Seed = 0,
) -> None:
    """Compound questions: 2 to 4 easy ones about one thing, each with its answer and passage.

    Over a corpus, a model writes one easy question for each passage; a question
    whose answer is not in the passage, or that gives it away, is refused. Then
    it joins those about one title into one fluent question, unless it says that
    nobody would ask them at once.

    With --from-questions, questions of a set that you have are asked one after
    the other, as they stand; no model is needed. A corpus may be given too: its
    passages of these titles are then written beside the questions.

    OUT gets tune.jsonl, dev.jsonl, test.jsonl, which share no title, question
    or passage, and corpus.jsonl: a benchmark named compound.

    Examples:
      aspectrag data build compound docs/ --out compound --lm openai/gpt-4o-mini
      aspectrag data build compound --from-questions nq/tune.jsonl --out compound
    """
    if not corpus and not from_questions:
        raise AspectragError("give a CORPUS to ask about, or --from-questions with questions to join")
    if dev + test >= 1:
        raise AspectragError(
            f"--dev {dev:g} and --test {test:g} leave nothing for tune.jsonl: their sum must be below 1"
        )
    passages = list(load_corpus(corpus)) if corpus else []
    names = twins(passages)  # a text under two ids could be in two parts
    passages = [passage for passage in passages if passage.id not in names]
    if from_questions:
        folder(out)
        made = groups(single_parts(renamed(one, names) for one in _questions(from_questions)), seed)
        if not made:
            raise AspectragError("no two questions are about the same title: supporting_titles of each must name one")
        records = [
            compound_record(group, join_verbatim([part.question for part in group.parts]), "verbatim") for group in made
        ]
        titles = {group.entity for group in made}
        support = {identity for record in records for identity in record["supporting_ids"]}
        kept = [passage for passage in passages if passage.title in titles or passage.id in support]
    else:
        found = entities(passages, most=documents, seed=seed)
        if not found:
            raise AspectragError("no title has two passages: give passages with titles, several of each")
        chosen = entities(passages, most=documents, limit=limit, seed=seed)
        records = _written(
            found, {entity.title for entity in chosen}, work_folder(out), load(lm, api_base=api_base), workers, seed
        )
        kept = [passage for entity in chosen for passage in entity.passages]
    shares = {"tune": 1 - dev - test, "dev": dev, "test": test}
    parts = split(records, {name: share for name, share in shares.items() if share}, seed)
    write_parts(out, parts)
    if kept:
        write_passages(out / "corpus.jsonl", kept)
    rows = [(name, len(found), len({one["meta"]["entity"] for one in found})) for name, found in parts.items()]
    tell(("part", "questions", "titles"), rows, f"{out}: {len(records)} compound questions, {len(kept)} passages")


def _written(
    found: Sequence[Entity], chosen: set[str], work: Path, model: dspy.LM, workers: int, seed: int
) -> list[dict[str, Any]]:
    """Ask for easy questions and for compound ones; what was asked for before is not asked again."""
    own = roles()
    ask, join = EasyQuestionWriter(), QuestionJoiner()

    def easy(task: Task) -> dict[str, Any]:
        out = ask(entity=task.record["title"], passage=task.record["text"])
        return {"easy": {"question": out.question, "answer": out.answer}, "easy_by": own.get("ask", model).model}

    def joined(task: Task) -> dict[str, Any]:
        parts = task.record["parts"]
        given = {"questions": [part["question"] for part in parts], "answers": [part["answers"][0] for part in parts]}
        return {
            "joined": join(entity=task.record["entity"], **given).question,
            "joined_by": own.get("join", model).model,
        }

    with dspy.context(lm=model, roles=own):
        tasks = [_task(entity, passage) for entity in found for passage in entity.passages]
        results = Results(work / "easy.jsonl", tasks, "easy", ("title", "text"), outdated="drop")
        left = [task for task in tasks if task.record["title"] in chosen and task.id not in results.done]
        if left:
            load_model(model)
            work_through(left, results, easy, workers, "asking", "passage")
        made = groups(_parts(results, chosen), seed)
        if not made:
            raise AspectragError("no title got two easy questions: give more passages, or a better --lm")
        tasks = [Task(group.id, _plain(group)) for group in made]
        results = Results(work / "joined.jsonl", tasks, "joined", ("entity", "parts"), outdated="drop")
        left = [task for task in tasks if task.id not in results.done]
        if left:
            load_model(model)
            work_through(left, results, joined, workers, "joining", "question")
    records = [
        compound_record(group, result["joined"], result["joined_by"])
        for group in made
        if (result := results.done.get(group.id)) and result["joined"]
    ]
    if not records:
        raise AspectragError(f"none of the {len(made)} groups of questions could be joined: try a better --lm")
    return records


def _task(entity: Entity, passage: Passage) -> Task:
    record = {"id": passage.id, "title": entity.title, "text": passage.text}
    record = {key: encodable(value) for key, value in record.items()}
    return Task(record["id"], record)


def _parts(results: Results, chosen: set[str]) -> Iterable[tuple[str, Part]]:
    for record in results.done.values():
        if record["title"] in chosen:
            yield record["title"], Part(record["easy"]["question"], (record["easy"]["answer"],), str(record["id"]))


def _plain(group: Group) -> dict[str, Any]:
    parts = [{**asdict(part), "answers": list(part.answers)} for part in group.parts]
    return {"id": group.id, "entity": group.entity, "parts": parts}


def _questions(paths: Iterable[Path]) -> list[dspy.Example]:
    from ..data.benchmarks.fields import MISFITS, misfit
    from ..data.benchmarks.files import read_records
    from ..data.benchmarks.records import read_own

    questions = []
    for path in paths:
        for where, record in read_records(path, "tune"):
            try:
                questions.append(read_own(record))
            except MISFITS as error:
                raise AspectragError(f"{where} is no question with answers: {misfit(error)}") from None
    return questions
