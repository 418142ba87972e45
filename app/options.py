"""Options that several commands share."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ..programs.program import Program

Lm = Annotated[
    str | None,
    typer.Option(
        help="Language model: 'embedded', a profile's name, or a model string such as openai/gpt-4o-mini or "
        "ollama_chat/qwen3:4b. See 'aspectrag lm list'.",
        show_default="embedded",
    ),
]
ApiBase = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible server.")]
Kind = Annotated[str, typer.Option(help="Kind of index made of documents: bm25, dense, hybrid or reranked.")]
Encoder = Annotated[
    str | None, typer.Option(help="sentence-transformers model, as a folder or hub name.", show_default="MiniLM-L6")
]


def settings_of(cls: type[Program], given: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The options that were given and the method has, ready for its config; and the names of those that it has not."""
    known = {field.name for field in dataclasses.fields(cls.config_class)}
    if "single_k" in known:  # both ways to retrieve heed --k
        given = {**given, "single_k": given["k"]}
    said = {option: value for option, value in given.items() if value is not None}
    return {option: value for option, value in said.items() if option in known}, said.keys() - known
