"""Compound questions: several about one thing, asked in one sentence."""

from .benchmark import Benchmark
from .measured import COMPOUND, SUPPORT
from .records import read_own

COMPOUND_QUESTIONS = Benchmark(
    name="compound",
    about="2-4 questions about one entity asked as one (HANRAG); its authors' set is not published, so one is built",
    licence="that of the questions it is built from",
    hub=None,
    read=read_own,
    metrics=(*COMPOUND, *SUPPORT),
    corpus="the passages of the questions that were joined",
    origin="a set built from others: a folder with tune.jsonl, dev.jsonl and corpus.jsonl",
)
