"""What can be chosen about an index, and is written into its manifest."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ...errors import AspectragError
from .analyzer import Analyzer
from .vectors import Method

Kind = Literal["bm25", "dense", "hybrid", "reranked"]

KINDS: tuple[Kind, ...] = ("bm25", "dense", "hybrid", "reranked")


@dataclass(frozen=True)
class IndexSettings:
    """Choices made when an index is built; opening it uses the same.

    Attributes:
        analyzer: From text to terms, for passages and queries alike.
        k1: BM25: how soon repeating a term stops paying (0 or more).
        b: BM25: how much long passages are held back (0 to 1).
        vectors: ``flat`` (exact), ``hnsw`` or ``ivf``.
        ef_search: Candidates that ``hnsw`` keeps while searching.
        nprobe: Lists that ``ivf`` looks into.
        fusion_constant: Constant of the reciprocal rank fusion.
        fusion_depth: Hits that the fusion takes from each side.
        rerank_base: What a reranked index takes its candidates from.
        rerank_depth: How many candidates it takes.

    Raises:
        AspectragError: A value is out of range.
    """

    analyzer: Analyzer = field(default_factory=Analyzer)
    k1: float = 1.5
    b: float = 0.75
    vectors: Method = "flat"
    ef_search: int = 64
    nprobe: int = 16
    fusion_constant: int = 60
    fusion_depth: int = 100
    rerank_base: Literal["bm25", "dense", "hybrid"] = "bm25"
    rerank_depth: int = 50

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise AspectragError(f"BM25 with k1={self.k1}, b={self.b}: k1 must be 0 or more, b between 0 and 1")
        if self.vectors not in ("flat", "hnsw", "ivf"):
            raise AspectragError(f"vectors={self.vectors!r}: use flat, hnsw or ivf")
        if self.rerank_base not in ("bm25", "dense", "hybrid"):
            raise AspectragError(f"rerank_base={self.rerank_base!r}: use bm25, dense or hybrid")
        for name in ("ef_search", "nprobe", "fusion_constant", "fusion_depth", "rerank_depth"):
            if getattr(self, name) < 1:
                raise AspectragError(f"{name}={getattr(self, name)}: must be at least 1")

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "IndexSettings":
        """The inverse of ``to_dict``."""
        return cls(**{**data, "analyzer": Analyzer(**data["analyzer"])})


@dataclass(frozen=True)
class Parts:
    """Which parts an index needs on disk besides its passages."""

    bm25: bool
    dense: bool


def parts_of(kind: Kind, settings: IndexSettings, cross_encoder: bool) -> Parts:
    """Parts of an index of one kind.

    A reranked index needs vectors for its scorer unless a cross-encoder scores.

    Example:
        >>> parts_of("reranked", IndexSettings(), cross_encoder=True)
        Parts(bm25=True, dense=False)
    """
    base = settings.rerank_base if kind == "reranked" else kind
    return Parts(
        bm25=base in ("bm25", "hybrid"), dense=base in ("dense", "hybrid") or (kind == "reranked" and not cross_encoder)
    )
