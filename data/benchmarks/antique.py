"""ANTIQUE: everyday questions with answers of four grades."""

import dspy

from .benchmark import Benchmark
from .fields import Record, whole
from .measured import GRADED, SUPPORT
from .records import read_judged


def read(record: Record) -> dspy.Example:
    """Read a query with its judged answers; grades 1-4 of the release become 0-3, as Typed-RAG and LINKAGE use them."""
    return read_judged(record, lowest=min(whole(record.get("lowest", 0), "lowest"), 1))


ANTIQUE = Benchmark(
    name="antique",
    about="non-factoid questions of a community site, with answers judged in four grades",
    licence="for research, see its site",
    hub=None,
    read=read,
    metrics=(*GRADED, *SUPPORT),
    corpus="all answers of the collection, 403,666",
    origin="ciir.cs.umass.edu/downloads/Antique (queries, qrels and collection into one folder), or a BEIR folder",
    answers_in_corpus=True,
)
