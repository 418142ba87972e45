"""Indexes over passages: BM25, dense, hybrid and reranked, all behind one protocol."""

from .analyzer import Analyzer
from .building import build, open_index
from .encoder import Encoder, EncoderIdentity, SentenceEncoder
from .fingerprint import corpus_hash
from .retriever import NoPassages, Ranker, Retriever
from .settings import IndexSettings
from .stored import AddReport, Index

__all__ = [
    "AddReport",
    "Analyzer",
    "Encoder",
    "EncoderIdentity",
    "Index",
    "IndexSettings",
    "NoPassages",
    "Ranker",
    "Retriever",
    "SentenceEncoder",
    "build",
    "corpus_hash",
    "open_index",
]
