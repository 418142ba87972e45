"""``aspectrag index``: make, extend, look at and search an index."""

import sys
from pathlib import Path
from typing import Annotated

import typer
import ujson
from rich.table import Table

from ..data.corpus import load_corpus
from ..data.index import build, open_index
from ..data.readers.report import ReadReport
from ..programs.trace import plain
from .corpora import encoder_of, kind_of, say
from .options import Encoder, Kind
from .views.terminal import console, shown

app = typer.Typer(no_args_is_help=True, help="Make, extend, look at and search an index.")

Folder = Annotated[Path, typer.Argument(help="The index's folder.")]
Documents = Annotated[list[Path], typer.Argument(help="Files or folders: jsonl (also .gz), txt, md, html, pdf.")]
ChunkWords = Annotated[int, typer.Option(min=20, help="Longest passage, in words.")]
Overlap = Annotated[int, typer.Option(min=0, help="Words that neighbouring passages share, in whole sentences.")]


@app.command("build")
def build_command(
    folder: Folder,
    documents: Documents,
    kind: Kind = "hybrid",
    encoder: Encoder = None,
    chunk_words: ChunkWords = 100,
    overlap_words: Overlap = 20,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an index that is there.")] = False,
) -> None:
    """Make an index of documents.

    Example: aspectrag index build my-index handbook.pdf notes/ --kind bm25
    """
    chosen = kind_of(kind)
    corpus = load_corpus(documents, chunk_words=chunk_words, overlap_words=overlap_words)
    _report(corpus.report)
    index = build(corpus, folder, chosen, encoder=encoder_of(chosen, encoder), report=say, overwrite=overwrite)
    console().print(f"{folder}: {len(index):,} passages, {kind}")


@app.command()
def add(
    folder: Folder,
    documents: Documents,
    encoder: Encoder = None,
    chunk_words: ChunkWords = 100,
    overlap_words: Overlap = 20,
) -> None:
    """Add documents to an index; what is there already is left alone."""
    index = open_index(folder, encoder=encoder)
    corpus = load_corpus(documents, chunk_words=chunk_words, overlap_words=overlap_words)
    _report(corpus.report)
    added = index.add(corpus)
    console().print(f"{folder}: {added}")


@app.command()
def info(folder: Folder, encoder: Encoder = None) -> None:
    """Show what an index holds and what it was made with, as JSON."""
    details = open_index(folder, encoder=encoder).info()
    sys.stdout.write(ujson.dumps(details, indent=2, ensure_ascii=False, escape_forward_slashes=False) + "\n")


@app.command()
def search(
    folder: Folder,
    queries: Annotated[list[str], typer.Argument(help="One or more queries, each in quotes.")],
    k: Annotated[int, typer.Option("--k", min=1, help="Passages per query.")] = 5,
    encoder: Encoder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines, one per query.")] = False,
) -> None:
    """Search an index."""
    found = open_index(folder, encoder=encoder).search(queries, k)
    for query, passages in zip(queries, found, strict=True):
        if as_json:
            record = plain({"query": query, "passages": passages})
            sys.stdout.write(ujson.dumps(record, ensure_ascii=False, escape_forward_slashes=False) + "\n")
            continue
        table = Table(title=shown(query if passages else f"{query}: nothing found"), title_justify="left", box=None)
        for heading in ("score", "id", "title", "text"):
            table.add_column(heading, no_wrap=heading != "text", max_width=70 if heading == "text" else 28)
        for passage in passages:
            table.add_row(f"{passage.score or 0:.4f}", *map(shown, (passage.id, passage.title, passage.text[:200])))
        console(wrap=True).print(table)


def _report(report: ReadReport) -> None:
    say(report.summary())
    for problem in report.problems:
        console(stderr=True).print(shown(f"! {problem}"), style="yellow")
