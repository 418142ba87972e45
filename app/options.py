"""Options that several commands share."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer

from ..errors import AspectragError
from ..lms import roles
from ..programs.program import Program
from ..programs.rich_rag import RichRag

Lm = Annotated[
    str | None,
    typer.Option(
        help="Language model: 'embedded', a profile's name, or a model string such as openai/gpt-4o-mini or "
        "ollama_chat/qwen3:4b. See 'aspectrag lm list'.",
        show_default="embedded",
    ),
]
Role = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="STAGE=LM",
        help="Language model of a single stage, such as route=ollama_chat/qwen3:4b; may be repeated. Goes before the "
        "roles of the profile file.",
        show_default=False,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        help="Small tuned models for the stages that steer a question: revelator (those of the package), a folder made "
        "by 'aspectrag train revelator', or none. --role and the profile file go before.",
        show_default="revelator, beside the embedded model where [train] is installed",
    ),
]
Uncompiled = Annotated[
    bool,
    typer.Option(
        "--uncompiled",
        help="Leave out what comes tuned with the package: for the language model or as small models.",
    ),
]
ApiBase = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible server.")]
Kind = Annotated[str, typer.Option(help="Kind of index made of documents: bm25, dense, hybrid or reranked.")]
Encoder = Annotated[
    str | None, typer.Option(help="sentence-transformers model, as a folder or hub name.", show_default="MiniLM-L6")
]
# A benchmark's questions, and what they are asked of.
BenchmarkName = Annotated[
    str, typer.Option("--benchmark", "-b", help="A name of 'aspectrag data list'.", show_default="demo")
]
Split = Annotated[str, typer.Option(help="dev to measure, tune to learn from.")]
Questions = Annotated[
    Path | None,
    typer.Option(help="File or folder with the benchmark's questions.", show_default="fetched, or from the hub"),
]
Corpus = Annotated[
    list[Path] | None,
    typer.Option(help="Files or folders to answer from; may be repeated.", show_default="the benchmark's"),
]
IndexFolder = Annotated[Path | None, typer.Option(help="An index to answer from, made by 'aspectrag index build'.")]
Limit = Annotated[int | None, typer.Option(min=1, help="A random sample of so many.", show_default="all")]
Seed = Annotated[int, typer.Option(help="Which sample --limit takes.")]
K = Annotated[int | None, typer.Option("--k", min=1, help="Passages per query.", show_default="the method's own")]

Ranker = Annotated[
    str | None,
    typer.Option(
        help="For the method rich: pointer, lm, similarity, retrieval, or a folder made by 'aspectrag train-ranker'.",
        show_default="pointer",
    ),
]
Json = Annotated[Path | None, typer.Option(help="Write all of it as JSON; a file there is replaced.")]


def trained_ranker(cls: type[Program], ranker: str | None) -> Path | None:
    """The folder of a trained ranker, where ``--ranker`` is one and the method has a ranker."""
    return Path(ranker) if ranker and issubclass(cls, RichRag) and Path(ranker).is_dir() else None


def file_of(option: str, path: Path) -> Path:
    """A file that can be written, as far as can be told before the work for it is done.

    Raises:
        AspectragError: It is a folder, or there is none that it could be in.
    """
    if path.is_dir():
        raise AspectragError(f"{option} {path} is a folder: give the name of a file in it")
    if not path.parent.is_dir():
        raise AspectragError(f"{option} {path}: there is no folder {path.parent}: make it first")
    return path


def settings_of(cls: type[Program], given: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The options that were given and the method has, ready for its config; and the names of those that it has not."""
    known = {field.name for field in dataclasses.fields(cls.config_class)}
    if "single_k" in known:  # both ways to retrieve heed --k
        given = {**given, "single_k": given["k"]}
    said = {option: value for option, value in given.items() if value is not None}
    return {option: value for option, value in said.items() if option in known}, said.keys() - known


def roles_of(
    given: Sequence[str] | None, stages: Collection[str], default: Mapping[str, str] | None = None
) -> dict[str, dspy.LM]:
    """The language models of single stages: those of ``--role``, over those of the profile file, over a default.

    Args:
        given: What ``--role`` was given, ``STAGE=LM`` each.
        stages: Names of the stages that there are.
        default: Names of language models by stage.

    Raises:
        AspectragError: One is malformed, given twice, or names no stage or language model.
    """
    named: dict[str, str] = {}
    for text in given or []:
        stage, _, lm = (part.strip() for part in text.partition("="))
        if not stage or not lm:
            raise AspectragError(f"--role {text}: write STAGE=LM, such as --role route=ollama_chat/qwen3:4b")
        if stage not in stages:
            raise AspectragError(
                f"--role {text}: there is no stage {stage!r} (stages: {', '.join(dict.fromkeys(stages))})"
            )
        if stage in named:
            raise AspectragError(f"--role {text}: the stage {stage} is given twice")
        named[stage] = lm
    return roles(named, default)
