"""Passages on their way from the retriever to the model: found, merged, ordered, fitted, numbered."""

from collections.abc import Sequence

import dspy

from ...data.index.retriever import Ranker, Retriever
from ...data.passages import Passage
from ...lms.tokens import count
from ...signatures.answering import NumberedPassage
from ...texts import encodable
from ..trace import note, step

# Room kept free for instructions, demos and the answer when passages are fitted to a context window.
PROMPT_TOKENS, ANSWER_TOKENS = 1000, 512


def retrieve(retriever: Retriever, queries: Sequence[str], k: int) -> list[list[Passage]]:
    """Search for all queries in one batch, as one step of the trace.

    Example:
        >>> from aspectrag.data.index import NoPassages
        >>> retrieve(NoPassages(), ["Is coal cheap?", "Is it clean?"], 5)
        [[], []]
    """
    with step("retrieval", "retrieve", {"queries": list(queries), "k": k}) as own:
        found = [list(passages[:k]) for passages in retriever.search(queries, k)]
        own.outputs = [[passage.to_dict() for passage in passages] for passages in found]
        for query, passages in zip(queries, found, strict=True):
            if not passages:
                note("warning", "retrieve", f"nothing was found for {query!r}")
    return found


def merge(lists: Sequence[Sequence[Passage]]) -> list[Passage]:
    """All passages of several lists, first come first; a text that was there already is dropped.

    Example:
        >>> coal, sun = Passage("1", "Coal", "Coal is cheap."), Passage("2", "Sun", "So is the sun.")
        >>> [passage.id for passage in merge([[coal], [sun, coal]])]
        ['1', '2']
    """
    merged: dict[str, Passage] = {}
    for passages in lists:
        for passage in passages:
            # Without a text the title is all that a passage says.
            merged.setdefault(passage.text or passage.title, passage)
    return list(merged.values())


def rerank(retriever: Retriever, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
    """The best ``k`` passages for ``query``; a retriever that cannot rank keeps its own scores, with a warning.

    Example:
        >>> from aspectrag.data.index import NoPassages
        >>> coal, sun = Passage("1", "Coal", "Coal is cheap."), Passage("2", "Sun", "So is the sun.")
        >>> [passage.id for passage in rerank(NoPassages(), "sun", [coal, sun], 1)]  # an index would rank
        ['1']
    """
    if not isinstance(retriever, Ranker):
        note("warning", "rerank", f"{type(retriever).__name__} cannot rank: passages keep the order they were found in")
        return list(passages[:k])
    with step("retrieval", "rerank", {"query": query, "passages": len(passages), "k": k}) as own:
        ranked = retriever.rank(query, passages, k)
        own.outputs = [passage.to_dict() for passage in ranked]
    return ranked


def fit(passages: Sequence[Passage], question: str, lm: dspy.BaseLM) -> list[Passage]:
    """Drop passages from the end until the rest fits the model's context window, with a warning in the trace.

    The window is the ``context_window`` of the language model, in tokens; where that is unknown nothing is dropped.
    """
    window = getattr(lm, "context_window", None)
    if not window:
        return list(passages)
    answer = (getattr(lm, "kwargs", {}) or {}).get("max_tokens") or ANSWER_TOKENS
    room = window - PROMPT_TOKENS - answer - count(lm, question)
    kept = list(passages)
    sizes = [count(lm, shown.model_dump_json()) for shown in numbered(kept)]
    while len(kept) > 1 and sum(sizes) > room:
        kept.pop()
        sizes.pop()
    if len(kept) < len(passages):
        note("warning", "budget", f"{len(passages) - len(kept)} of {len(passages)} passages left out: "
             f"the context window is {window} tokens")  # fmt: skip
    return kept


def numbered(passages: Sequence[Passage]) -> list[NumberedPassage]:
    """What the model is shown: each passage with the number it is cited by.

    Example:
        >>> numbered([Passage("a", "Danube", "A river.")])
        [NumberedPassage(number=1, title='Danube', text='A river.')]
    """
    return [
        NumberedPassage(number=n, title=encodable(p.title), text=encodable(p.text)) for n, p in enumerate(passages, 1)
    ]
