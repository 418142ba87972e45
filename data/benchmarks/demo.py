"""The demo: questions of every type and route, over the articles that come with the package."""

from .benchmark import Benchmark
from .measured import SHORT, SUPPORT
from .records import read_own

DEMO = Benchmark(
    name="demo",
    about="65 questions of every type and route over the 172 articles of the demo: no download, for a first look",
    licence="Apache-2.0",
    hub=None,
    read=read_own,
    metrics=(*SHORT, "compound_acc", "rougeL", "type_accuracy", "steps", *SUPPORT),
    categories=("type", "route"),
    corpus="the articles of the demo, which come with the package",
)
