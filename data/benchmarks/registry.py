"""The benchmarks by the names that users give them."""

from ...errors import AspectragError, nearest
from .antique import ANTIQUE
from .asqa import ASQA
from .bamboogle import BAMBOOGLE
from .benchmark import Benchmark
from .commonsenseqa import COMMONSENSEQA
from .compound import COMPOUND_QUESTIONS
from .demo import DEMO
from .fanoutqa import FANOUTQA
from .freshwiki import FRESHWIKI
from .hotpotqa import HOTPOTQA
from .musique import MUSIQUE
from .nf_cats import NF_CATS
from .nq import NQ
from .squad import SQUAD
from .triviaqa import TRIVIAQA
from .two_wiki import TWO_WIKI
from .wiki_nfqa import WIKI_NFQA
from .wikiasp import WIKIASP
from .wikipassageqa import WIKIPASSAGEQA

BENCHMARKS: dict[str, Benchmark] = {
    each.name: each
    for each in (
        DEMO, WIKI_NFQA, NF_CATS, ANTIQUE, WIKIPASSAGEQA, WIKIASP, ASQA, FRESHWIKI, SQUAD, NQ, TRIVIAQA,
        COMMONSENSEQA, HOTPOTQA, TWO_WIKI, MUSIQUE, BAMBOOGLE, FANOUTQA, COMPOUND_QUESTIONS,
    )
}  # fmt: skip


def benchmark(name: str) -> Benchmark:
    """The benchmark of a name.

    Raises:
        AspectragError: There is none; names the nearest.

    Example:
        >>> benchmark("musique").categories
        ('type', 'hops')
    """
    if name in BENCHMARKS:
        return BENCHMARKS[name]
    hint = nearest(name.replace("_", "-"), BENCHMARKS)
    raise AspectragError(f"there is no benchmark {name!r}{hint} (benchmarks: {', '.join(BENCHMARKS)})")
