"""``aspectrag ask``: one question, answered."""

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer
import ujson

from ..data.index.retriever import NoPassages
from ..errors import AspectragError
from ..lms import load
from ..programs.config import Config
from ..programs.program import Program, Result
from ..programs.rankers.pointer import PointerRanker
from ..programs.registry import METHODS, class_of, method
from ..programs.rich_rag import RichRag
from ..programs.trace import Trace, plain, record
from ..texts import printable
from .corpora import index_of, say
from .options import ApiBase, Encoder, Kind, Lm, Profile, Ranker, Role, Uncompiled, file_of, settings_of, trained_ranker
from .profile import stage_models
from .progress import load_model, stages
from .shipped import use_shipped
from .stream import streamed
from .tracking import Mlflow, tell, tracker_of
from .views.terminal import answer_view, console, trace_view


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    method_name: Annotated[
        str | None, typer.Option("--method", "-m", help=f"One of: {', '.join(METHODS)}.", show_default="typed")
    ] = None,
    program: Annotated[
        Path | None, typer.Option(help="A saved program, with its own settings, in place of a method.")
    ] = None,
    index: Annotated[Path | None, typer.Option(help="A folder made by 'aspectrag index build'.")] = None,
    docs: Annotated[list[Path] | None, typer.Option(help="Files or folders to answer from; may be repeated.")] = None,
    lm: Lm = None,
    role: Role = None,
    profile: Profile = None,
    api_base: ApiBase = None,
    uncompiled: Uncompiled = False,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Passages per query.", show_default="the method's own")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            help="How long answers are: full, or brief (a name, a date, yes or no).", show_default="the method's own"
        ),
    ] = None,
    ranker: Ranker = None,
    kind: Kind = "hybrid",
    encoder: Encoder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")] = False,
    trace_file: Annotated[Path | None, typer.Option("--trace", help="Write every step to this file, as JSON.")] = None,
    mlflow: Mlflow = None,
) -> None:
    """Answer a question from documents, with citations and every step shown.

    Without --docs or --index it is answered from the demo corpus that comes with the package.
    Where stages of the method come tuned for the language model, or have small models of their own that steer the
    question beside the embedded one, they are used; --uncompiled leaves both out.

    Examples:
      aspectrag ask "Why do corals turn white?"
      aspectrag ask "Which plan suits us better?" --docs handbook.pdf --docs notes/
      aspectrag ask "How do I start a sourdough?" --method rag --lm ollama_chat/qwen3:4b
      aspectrag ask "Into which sea does the river of Warsaw flow?" --method han
      aspectrag ask "How can a team work together better?" --method rich
      aspectrag ask "Who wrote the book that Blade Runner is based on?" -m han --role route=openai/gpt-4o-mini
      aspectrag ask "Why do corals turn white?" --program my-compiled
    """
    if not question.strip():
        raise AspectragError("the question is empty: ask something")
    name = method_name or "typed"
    cls = class_of(program) if program else method(name)
    trained = trained_ranker(cls, ranker)
    given = {"k": k, "answers": answers, "ranker": None if trained else ranker}
    if program:
        _refuse_beside(program, {"method": method_name, **given, "uncompiled": uncompiled or None})
    config = cls.inspect(program).config if program else _config(cls, name, given)
    if trace_file:
        file_of("--trace", trace_file)
    tracker = tracker_of(mlflow)
    model, unasked = load(lm, api_base=api_base), cls(config, NoPassages())
    tuned = bool(program) or uncompiled
    own = stage_models(role, profile, {name: unasked}, model, default=not tuned, quiet=as_json)
    progress = not as_json
    retriever = index_of(index, docs or [], kind, encoder, progress) if cls.retrieves else None
    if retriever is not None and not index and not docs and not as_json:
        console(stderr=True).print("Answering from the demo corpus; --docs or --index give your own.", style="dim")
    asked = cls.load(program, retriever) if program else cls(config, retriever)
    if trained and isinstance(asked, RichRag):
        asked.ranker = PointerRanker.load(trained)
    if not tuned:
        use_shipped({name: asked}, model, own, quiet=as_json)
    for each in (model, *(own[stage] for stage, _ in asked.named_predictors() if stage in own)):
        load_model(each, shown=progress)
    started = time.perf_counter()
    with dspy.context(lm=model, roles=own), record(asked) as trace:
        try:
            stream = not as_json and sys.stdout.isatty()
            result, shown = _run(asked, question, stream=stream, progress=progress)
        finally:
            if trace_file:
                _keep(trace, trace_file)
            tell(tracker, lambda to: to.trace(trace))
    seconds = time.perf_counter() - started
    if as_json:
        sys.stdout.write(ujson.dumps(_record(result, seconds), ensure_ascii=False, escape_forward_slashes=False) + "\n")
    else:
        # A terminal gets whole words on its lines, a pipe gets the lines whole.
        console(wrap=sys.stdout.isatty()).print(answer_view(result, streamed=bool(shown)))
        console(wrap=True).print(trace_view(trace))
    if not result.answer:
        raise AspectragError(f"{model.model} gave no usable answer: see --trace FILE, or try another --lm")


def _refuse_beside(program: Path, given: dict[str, Any]) -> None:
    """Refuse options that a saved program has answered already."""
    for option, value in given.items():
        if value is not None:
            raise AspectragError(f"--program {program} is a method with its own settings: leave out --{option}")


def _config(cls: type[Program], name: str, given: dict[str, Any]) -> Config:
    """The method's settings, those that were given in place of its own."""
    settings, unknown = settings_of(cls, given)
    for option in unknown:
        raise AspectragError(f"--method {name} has no --{option}: leave it out")
    return cls.config_class(**settings)


def _keep(trace: Trace, path: Path) -> None:
    try:
        trace.save(path)
    except (OSError, RecursionError) as exc:  # the answer, or the failure that comes, is worth more
        say(f"! --trace: {path} cannot be written: {exc}")


def _run(program: Program, question: str, *, stream: bool, progress: bool) -> tuple[Result, str]:
    with stages(program, shown=progress) as status:
        if not stream:
            return program(question=question), ""

        def show(piece: str) -> None:
            status.stop()
            _write(piece)

        result, shown = streamed(program, question, show)
    if shown:
        # Checking an answer may add its citations, or take it back; then it is printed as it stands.
        rest = result.answer.removeprefix(shown.strip())
        _write((rest if rest != result.answer else f"\n\n{rest}") + "\n\n")
    return result, shown


def _write(piece: str) -> None:
    sys.stdout.write(printable(piece))
    sys.stdout.flush()


def _record(result: Result, seconds: float) -> dict[str, Any]:
    """What ``--json`` prints: the fields of the result, usage and seconds."""
    return {**plain(result.toDict()), "usage": result.usage, "seconds": round(seconds, 3)}
