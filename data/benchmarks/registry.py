"""The benchmarks by the names that users give them."""

import difflib

from ...errors import AspectragError
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
    near = difflib.get_close_matches(name.lower().replace("_", "-"), BENCHMARKS, n=1, cutoff=0.3)
    raise AspectragError(
        f"there is no benchmark {name!r}"
        + (f": did you mean {near[0]!r}?" if near else "")
        + f" (benchmarks: {', '.join(BENCHMARKS)})"
    )
