"""Options that several commands share."""

from typing import Annotated

import typer

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
