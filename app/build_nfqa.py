"""``aspectrag data build nfqa``: non-factoid questions out of other sets, with graded answers."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer

from ..data.construction.nonfactoid import as_text, kept
from ..data.construction.records import Question, Results, read_questions
from ..data.construction.sampling import balanced
from ..data.growing import write_records
from ..errors import AspectragError
from ..lms import load, roles
from ..programs.references import QuestionLabeller, ReferenceWriter
from .building import Out, Seed, Workers, tell, work_folder
from .options import ApiBase, Lm
from .progress import load_model
from .working import work_through


def nfqa(
    files: Annotated[list[Path], typer.Argument(help="JSON lines with id, question and answers; each file a source.")],
    out: Out,
    lm: Lm = None,
    writer: Annotated[
        list[str] | None,
        typer.Option(
            help="A model that writes three answers of different worth; can be given again.", show_default="--lm"
        ),
    ] = None,
    api_base: ApiBase = None,
    workers: Workers = 8,
    cap: Annotated[int, typer.Option(min=1, help="Most questions of a source.")] = 300,
    seed: Seed = 13370,
) -> None:
    """Non-factoid questions out of any question sets, each with answers graded 0 to 3.

    As Wiki-NFQA was made: a model says of what type each question is; those
    that ask for a fact, by type or by form ("how many ..."), are left out; of
    each source a sample is taken in which the types are as even as can be. For
    every question in it the right answer is put better, and each --writer
    writes a good, a flawed and an off-topic one. All are graded beside one
    another by the model of the stage 'grade', which may be another one (see
    'aspectrag lm list'), as may those of 'classify' and 'rewrite'.

    OUT gets dev.jsonl: records with type and references, as the metric LINKAGE
    takes them.

    Example:
      aspectrag data build nfqa nq.jsonl squad.jsonl --out nfqa --lm openai/gpt-4o
      --writer openai/gpt-4o-mini --writer ollama_chat/qwen3:4b
    """
    sources = {path: read_questions(path) for path in files}
    asked = [question for questions in sources.values() for question in questions]
    if twice := [identity for identity, count in Counter(one.id for one in asked).items() if count > 1]:
        raise AspectragError(f"the id {twice[0]!r} is in two files: make the ids unique")
    work = work_folder(out)
    model, own = load(lm, api_base=api_base), roles()
    with dspy.context(lm=model, roles=own):
        types = _types(asked, work, model, own, workers)
        chosen: list[Question] = []
        names: dict[str, str] = {}
        for path, questions in sources.items():
            usable = set(kept({one.id: one.question for one in questions}, types))
            pool = [one for one in questions if one.id in usable]
            chosen += balanced(pool, lambda one: types[one.id], cap, fill=True, seed=seed)
            names |= {one.id: str(one.record.get("dataset") or path.stem) for one in questions}
        if not chosen:
            raise AspectragError(f"none of the {len(asked)} questions is non-factoid, by type and by form")
        writers = [load(name) for name in writer or []]
        results = _references(chosen, asked, work, model, own, writers, workers)
    records = [
        _record(one, types[one.id], results.done[one.id], names[one.id]) for one in chosen if one.id in results.done
    ]
    if not records:
        raise AspectragError(f"none of the {len(chosen)} questions got references: try a better --lm")
    write_records(out / "dev.jsonl", records)
    counts = Counter(record["type"] for record in records)
    rows = [(label, counts[label]) for label in sorted(counts)]
    tell(("type", "questions"), rows, f"{out / 'dev.jsonl'}: {len(records)} of {len(chosen)} sampled questions, "
         f"from {len(asked)}")  # fmt: skip


def _types(asked: Sequence[Question], work: Path, model: dspy.LM, own: dict[str, Any], workers: int) -> dict[str, str]:
    results = Results(work / "types.jsonl", asked, "typed_by", outdated="drop")
    labeller, made_by = QuestionLabeller(), own.get("classify", model).model
    if left := [one for one in asked if one.id not in results.done]:
        load_model(own.get("classify", model))
        work_through(
            left, results,
            lambda one: {"type": labeller(question=one.question).type, "typed_by": made_by},
            workers, "labelling", "question",
        )  # fmt: skip
    return {identity: record["type"] for identity, record in results.done.items()}


def _references(
    chosen: Sequence[Question],
    asked: Sequence[Question],
    work: Path,
    model: dspy.LM,
    own: dict[str, Any],
    writers: Sequence[dspy.LM],
    workers: int,
) -> Results:
    results = Results(work / "references.jsonl", asked, "graded_by", outdated="drop")
    program, made_by = ReferenceWriter(writers), own.get("grade", model).model

    def referenced(one: Question) -> dict[str, Any]:
        references = program(question=one.question, answer=as_text(one.answer)).references
        return {"references": references, "graded_by": made_by}

    if left := [one for one in chosen if one.id not in results.done]:
        for each in {id(lm): lm for lm in (model, *writers)}.values():
            load_model(each)
        work_through(left, results, referenced, workers, "grading", "question")
    return results


def _record(one: Question, label: str, result: dict[str, Any], source: str) -> dict[str, Any]:
    given = one.record
    meta = given.get("meta") if isinstance(given.get("meta"), dict) else {}
    return {
        **given,
        "dataset": "wiki_nfqa",
        "answers": [as_text(str(answer)) for answer in given["answers"]],
        "type": label,
        "references": result["references"],
        "meta": {**(meta or {}), "subset": source, "graded_by": result["graded_by"]},
    }
