"""From text to index terms: one analyzer for passages and queries, in any script.

Scripts that put spaces between words give words. Scripts that do not (Chinese, Japanese, Thai, Lao, Khmer, Burmese),
and Korean, where particles cling to the noun, give overlapping pairs of characters, which need no dictionary.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from ...errors import AspectragError

# Blocks written without spaces, and Hangul: digits and punctuation of these blocks are left out on purpose.
_UNSPACED_BLOCKS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ecf\u0edc-\u0edf"  # Lao
    "\u1000-\u103f\u1050-\u109f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3100-\u312f\u31a0-\u31bf"  # Hiragana, Katakana, Bopomofo
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"  # Hangul
)
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_RUN = re.compile(f"[{_UNSPACED_BLOCKS}]+")
# Soft hyphens and (non-)joiners steer the layout, not the word.
_INVISIBLE = re.compile("[\u00ad\u200c\u200d\u2060\ufeff]")
_ASCII_WORD = re.compile(r"\w+(?:'\w+)*", re.ASCII)
_MAX_CACHED_WORDS = 1_000_000


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    r"""The word of any script, and one character with its combining marks.

    Python's ``\w`` leaves combining marks out, which would break most Hindi words in two: they are collected once.
    """
    codes = [c for c in range(0x300, 0x20000) if unicodedata.category(chr(c))[0] == "M"]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    marks = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
    piece = rf"\w[\w{marks}]*"
    return re.compile(rf"{piece}(?:'{piece})*|[{_EMOJI}]"), re.compile(f".[{marks}]*", re.DOTALL)


def _pairs(run: str) -> list[str]:
    characters = _patterns()[1].findall(run)
    if len(characters) == 1:
        return characters
    return [first + second for first, second in pairwise(characters)]


class _Memo(dict[str, Any]):
    """A dictionary that computes what it misses: one look-up per word is what makes analysis fast."""

    def __init__(self, compute: Callable[[str], Any]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, word: str) -> Any:
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        value = self[word] = self._compute(word)
        return value


@dataclass(frozen=True)
class Analyzer:
    """Turns text into index terms; two analyzers with equal fields give equal terms.

    Text is normalised (Unicode NFKC) and lower-cased (case folding). Words are stemmed by the Snowball stemmer of
    ``language``; stop words (Lucene's list for English, see ``bm25s.stopwords``) are dropped. Runs of an unspaced
    script or of Hangul become overlapping pairs of characters, a lone character itself; combining marks stay with
    their character. An emoji is a term of its own.

    Attributes:
        language: A Snowball language, or ``"none"`` for no stemming and no stop words.
        stop_words: Whether to drop the stop words of that language (where ``bm25s`` has a list).

    Raises:
        AspectragError: The language is unknown.

    Example:
        >>> Analyzer().tokens("The Danube's bridges")
        ['danub', 'bridg']
        >>> Analyzer().tokens("東京都 and 서울은")
        ['東京', '京都', '서울', '울은']
    """

    language: str = "english"
    stop_words: bool = True

    def __post_init__(self) -> None:
        if self.language != "none":
            import Stemmer

            if self.language not in (known := Stemmer.algorithms()):
                raise AspectragError(f"no stemmer for language {self.language!r}: use one of none, {', '.join(known)}")

    def words(self, text: str) -> list[str]:
        """Normalised words of ``text`` in order, not yet stemmed; pairs of characters for unspaced scripts."""
        if text.isascii():
            return _ASCII_WORD.findall(text.lower())
        # Folding the case can take composed characters apart, hence the second normalisation.
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = _INVISIBLE.sub("", text).replace("\u2019", "'")
        word = _patterns()[0]
        if not _RUN.search(text):
            return word.findall(text)
        words: list[str] = []
        for token in word.findall(_RUN.sub(r" \g<0> ", text)):
            if _RUN.match(token):
                words += _pairs(token)
            else:
                words.append(token)
        return words

    def tokens(self, text: str) -> list[str]:
        """Index terms of ``text`` in order, repeated as often as they occur."""
        terms = self._terms
        return [term for term in [terms[word] for word in self.words(text)] if term]

    def number(self, texts: Iterable[str]) -> tuple[list[list[int]], dict[str, int]]:
        """Terms of many texts as numbers, counted up in order of first occurrence: the same in every process.

        Returns:
            One list of term numbers per text, and the number of each term.
        """
        vocabulary: dict[str, int] = {}

        def number_of(word: str) -> int:
            term = self._terms[word]
            return vocabulary.setdefault(term, len(vocabulary)) if term else -1

        numbers = _Memo(number_of)
        return [[n for n in [numbers[w] for w in self.words(text)] if n >= 0] for text in texts], vocabulary

    def settings(self) -> dict[str, Any]:
        """What the manifest of an index says about its analyzer."""
        return asdict(self)

    @cached_property
    def _terms(self) -> _Memo:
        """Word to term; the empty string stands for a stop word."""
        if self.language == "none":
            return _Memo(lambda word: word)
        import Stemmer

        stemmer = Stemmer.Stemmer(self.language, 0)
        stop_words = _stop_words(self.language) if self.stop_words else frozenset()
        lock = threading.Lock()

        def term_of(word: str) -> str:
            if word in stop_words:
                return ""
            with lock:  # a Snowball stemmer works in a buffer of its own
                return stemmer.stemWord(word)

        return _Memo(term_of)


def _stop_words(language: str) -> frozenset[str]:
    from bm25s import stopwords

    name = "STOPWORDS_EN" if language in ("english", "porter") else f"STOPWORDS_{language.upper()}"
    return frozenset(getattr(stopwords, name, ()))
