"""Hashes that tell one corpus, one file and one passage from another."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ..passages import Passage

_MODULUS = 1 << 256


def passage_digest(passage: Passage) -> int:
    """A number of 256 bits for id, title and text; score and meta, which are not indexed, do not count."""
    sha = hashlib.sha256()
    for field in (passage.id, passage.title, passage.text):
        data = field.encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "little"))  # the length keeps ("a", "bc") apart from ("ab", "c")
        sha.update(data)
    return int.from_bytes(sha.digest(), "little")


def combine(total: int, digest: int) -> int:
    """Add one passage to a corpus sum; starts from 0."""
    return (total + digest) % _MODULUS


def corpus_hash(passages: Iterable[Passage]) -> str:
    """Hash of a set of passages, 64 hexadecimal digits, the same in any order.

    It is the sum of the passages' SHA-256 values (an additive set hash, Clarke et al. 2003): what is added later gives
    the hash of the whole without reading the rest again.

    Example:
        >>> a, b = Passage("1", "", "x"), Passage("2", "", "y")
        >>> corpus_hash([a, b]) == corpus_hash([b, a])
        True
    """
    total = 0
    for passage in passages:
        total = combine(total, passage_digest(passage))
    return hash_text(total)


def hash_text(total: int) -> str:
    """A corpus sum as it is written in manifests."""
    return f"{total:064x}"


def file_sha256(path: Path) -> str:
    """SHA-256 of a file; read again only when its size or time of change differs."""
    status = path.stat()
    return _file_sha256(path.resolve(), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _file_sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
