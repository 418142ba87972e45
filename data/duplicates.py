"""Duplicates: when two passages are one, and what to do about it.

Identity is the id. Two passages with the same id and the same title and text are one passage, repeated; with the same
id and another text they clash; with the same title and text and different ids they are twins. Twins stay by default:
benchmarks name supporting passages by id, and an id that quietly disappears is a wrong number later.
"""

from collections.abc import Iterable
from dataclasses import dataclass
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
    """Remembers ids and digests of texts (about 200 bytes a passage) and judges each passage against them.

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


@dataclass(frozen=True, slots=True)
class Additions:
    """What of some passages is new to a collection.

    Attributes:
        new: The passages to add, in order.
        present: How many were there already, with the same text.
        changed: Ids that were there with another text; these passages are not in ``new``.
    """

    new: tuple[Passage, ...]
    present: int
    changed: tuple[str, ...] = ()

    def summary(self) -> str:
        """The outcome in one line, the same also where nothing happens.

        Example:
            >>> Additions((), 12).summary()
            '0 new, 12 already present'
        """
        changed = f", {len(self.changed):,} with the id of a passage of another text" if self.changed else ""
        return f"{len(self.new):,} new, {self.present:,} already present{changed}"


def additions(incoming: Iterable[Passage], present: Iterable[Passage], duplicates: Duplicates = "first") -> Additions:
    """Tell which of ``incoming`` are not yet in ``present``.

    Args:
        incoming: Passages to add; they are compared with each other too.
        present: Passages that are there.
        duplicates: See ``Duplicates``; under ``distinct`` a text that is there under another id counts as present.

    Raises:
        AspectragError: Under ``error``, for the first id that is there already.

    Example:
        >>> one, two = Passage("1", "", "A river."), Passage("2", "", "A lake.")
        >>> additions([one, two], present=[one]).summary()
        '1 new, 1 already present'
    """
    check_policy(duplicates)
    register = Register()
    for passage in present:
        register.judge(passage)
    new: list[Passage] = []
    changed: list[str] = []
    here = 0
    for passage in incoming:
        verdict = register.judge(passage)
        if not is_kept(verdict, duplicates, passage.id):
            if verdict == "clash":
                changed.append(passage.id)
            else:
                here += 1
        else:
            new.append(passage)
    return Additions(tuple(new), here, tuple(changed))


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
