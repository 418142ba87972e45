"""Indexes over passages: BM25, dense, hybrid and reranked, all behind one protocol."""
