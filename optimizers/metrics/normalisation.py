"""How answers are made comparable, as SQuAD's evaluation does it, and in other scripts too."""

import re
import unicodedata

# HotpotQA (Yang et al., EMNLP 2018), official evaluation: answers that are right or wrong, never half.
VERDICTS = frozenset({"yes", "no", "noanswer"})
_ARTICLES = re.compile(r"\b(a|an|the)\b")
# Ideographs and kana are written without blanks: each character is a token.
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def normalise(text: str) -> str:
    """Lower case, no punctuation, no English articles, single blanks.

    Source: SQuAD (Rajpurkar et al., EMNLP 2016), its official evaluation. Beyond it, Unicode is composed (NFKC) and
    the punctuation of all scripts goes, not that of ASCII alone; symbols such as ``+`` and ``$`` go as there.

    Example:
        >>> normalise("The  U.S. Army!"), normalise("«Ｋyiv»")
        ('us army', 'kyiv')
    """
    # Composing takes accents that stand alone apart (´ into a blank and a mark): they go first. The bar of a composed
    # fraction becomes a gap, lest 3½ be 312.
    text = "".join(char for char in text if unicodedata.category(char) != "Sk")
    text = unicodedata.normalize("NFKC", text).lower().replace("\N{FRACTION SLASH}", " ")
    text = "".join(char for char in text if unicodedata.category(char)[0] not in "PS" or char == "°")
    return " ".join(_ARTICLES.sub(" ", text).split())


def tokens(text: str) -> list[str]:
    """The words of the normalised text; ideographs and kana are a token each.

    Example:
        >>> tokens("The Mount Fuji (富士山)")
        ['mount', 'fuji', '富', '士', '山']
    """
    return by_character(normalise(text)).split()


def by_character(text: str) -> str:
    """The text with blanks around each character of a script that has none between words."""
    return _WIDE.sub(r" \g<0> ", text)
