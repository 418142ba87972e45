"""Duplicates: when two passages are one, and what to do about it.

Identity is the id. Two passages with the same id and the same title and text are one passage, repeated; with the same
id and another text they clash; with the same title and text and different ids they are twins. Twins stay by default:
benchmarks name supporting passages by id, and an id that quietly disappears is a wrong number later.
"""

from hashlib import blake2b
from typing import Literal, get_args

from ..errors import AspectragError
from .passages import Passage

Duplicates = Literal["first", "distinct", "error"]
"""Policy: ``first`` keeps the first of each id; ``distinct`` the first of each text as well; ``error`` refuses both
repeated and clashing ids."""

Verdict = Literal["new", "repeated", "clash", "twin"]


def fingerprint(contents: str) -> bytes:
    """A 16-byte digest of a text, the same on every machine.

    Example:
        >>> fingerprint("A river.").hex()[:8]
        'f63d26db'
    """
    return blake2b(contents.encode("utf-8", errors="surrogatepass"), digest_size=16).digest()


class Register:
    """Remembers ids and digests of texts and judges each passage against them.

    Example:
        >>> register = Register()
        >>> register.judge(Passage("1", "", "A river.")), register.judge(Passage("1", "", "A lake."))
        ('new', 'clash')
    """

    def __init__(self) -> None:
        self._by_id: dict[str, bytes] = {}
        self._texts: set[bytes] = set()

    def judge(self, passage: Passage) -> Verdict:
        """Compare with all before; a new or twin passage is remembered."""
        digest = fingerprint(passage.contents)
        known = self._by_id.setdefault(passage.id, digest)
        if known is not digest:
            return "repeated" if known == digest else "clash"
        if digest in self._texts:
            return "twin"
        self._texts.add(digest)
        return "new"


def is_kept(verdict: Verdict, duplicates: Duplicates, passage_id: str, where: str = "") -> bool:
    """Apply the policy to a verdict.

    Args:
        verdict: What ``Register.judge`` said.
        duplicates: The policy.
        passage_id: Named in the error.
        where: Place of the passage (" in corpus.jsonl, line 7"), named in the error.

    Raises:
        AspectragError: Under ``error``, for an id that comes twice.

    Example:
        >>> is_kept("twin", "first", "1"), is_kept("twin", "distinct", "1")
        (True, False)
    """
    if verdict in ("repeated", "clash"):
        if duplicates == "error":
            text = "the same" if verdict == "repeated" else "another"
            raise AspectragError(
                f"duplicate id {passage_id!r}{where}: it came before with {text} text; "
                'make the ids unique, or choose duplicates="first" to keep the first of each'
            )
        return False
    return verdict == "new" or duplicates != "distinct"


def check_policy(duplicates: str) -> None:
    """Refuse an unknown policy.

    Raises:
        AspectragError: It is none of ``Duplicates``.
    """
    if duplicates not in get_args(Duplicates):
        raise AspectragError(f"duplicates={duplicates!r} is unknown; choose one of {', '.join(get_args(Duplicates))}")
