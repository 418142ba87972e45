"""The one place that imports faiss.

On macOS the wheels of faiss and torch each bring an OpenMP runtime; with both in one process the later import or a
parallel faiss kernel can crash. There torch is imported first and faiss keeps to one thread. Elsewhere nothing is done,
so that opening an index does not pay for importing torch.
"""

import sys
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def load_faiss() -> Any:
    """The ``faiss`` module, imported in the order that is safe on this platform."""
    if sys.platform == "darwin":
        import torch  # noqa: F401
    import faiss

    if sys.platform == "darwin":
        faiss.omp_set_num_threads(1)
    return faiss
