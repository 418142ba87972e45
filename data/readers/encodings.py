"""From bytes to text: UTF-8 first, then what the bytes themselves say."""

import codecs
import re

# UTF-32 before UTF-16: the mark of one begins with the mark of the other.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that files are really found in. On short texts the detector calls several equally clean; then the first
# of the list is right most often: what is clean in an encoding of few valid byte pairs is hardly so by chance, and
# two Latin encodings that fit equally differ in letters that only the earlier one's languages use.
_LATIN = ("cp1254", "cp1252", "cp1250")
_OTHERS = (
    "big5hkscs", "euc_jp", "cp932", "gb18030", "cp949", "cp1256", "cp1255", "cp1253", "cp1251", "koi8_r",
)  # fmt: skip
_SAMPLE = 1 << 18
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def wide_encoding(head: bytes) -> str | None:
    """The name of the encoding if the first bytes of a file show UTF-16 or UTF-32, else ``None``.

    Example:
        >>> wide_encoding("text".encode("utf-16")), wide_encoding("text".encode("utf-16-be")), wide_encoding(b"text")
        ('utf-16', 'utf-16-be', None)
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    # Without a mark: every other byte of mostly Latin text is zero.
    even, odd, half = head[::2].count(0), head[1::2].count(0), len(head) // 2
    if max(even, odd) > 0.4 * half and min(even, odd) < 0.1 * half:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def detect(data: bytes) -> str | None:
    """Name the encoding of ``data``, which is not clean UTF-8; ``None`` where no encoding fits (a binary file).

    The answer is "utf-8" where most of what is not ASCII is: such a file has been damaged, not written otherwise.

    Example:
        >>> detect("Où est la bibliothèque ?".encode("cp1252"))
        'cp1252'
    """
    # Imported here: most corpora are UTF-8 and never need it.
    from charset_normalizer import from_bytes

    loose = data.decode("utf-8", errors="replace")
    bad = loose.count("\ufffd")
    if bad <= sum(character > "\x7f" for character in loose) - bad:
        return "utf-8"
    sample = _sample(data)
    words = b"".join(word for word in sample.split() if not word.isascii())
    # In Latin scripts a few letters of a word are accented; in the others all of them are outside ASCII.
    latin = sum(byte > 0x7F for byte in words) < 0.5 * len(words)
    order = [*_LATIN, *_OTHERS] if latin else [*_OTHERS, *_LATIN]
    matches = list(from_bytes(sample, cp_isolation=order))
    if not matches:
        return None if _CONTROL.search(data) else "latin-1"
    return min((match.encoding for match in matches if match.chaos == matches[0].chaos), key=order.index)


def decode(data: bytes, declared: str | None = None) -> tuple[str, bool]:
    r"""Decode the whole of a file.

    Args:
        data: Its bytes.
        declared: The encoding that it names itself, tried after UTF-8.

    Returns:
        The text without a byte order mark, and whether it has U+FFFD in place of bytes that do not fit.

    Raises:
        UnicodeError: No encoding fits.

    Example:
        >>> decode(b"\xef\xbb\xbfcaf\xc3\xa9")
        ('café', False)
    """
    if wide := wide_encoding(data[:4096]):
        return data.decode(wide, errors="replace"), False
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        pass
    if declared:
        try:
            return data.decode(declared), False
        except (UnicodeDecodeError, LookupError):
            pass
    if encoding := detect(data):
        return data.decode(encoding, errors="replace"), encoding == "utf-8"
    raise UnicodeError("no text encoding fits")


def tidy(text: str) -> str:
    r"""Make text fit for every later step: ``\n`` line ends, no outer blanks, U+FFFD for lone surrogates.

    Example:
        >>> tidy(" one\r\ntwo\r")
        'one\ntwo'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return text if text.isascii() else mend(text)


def mend(text: str) -> str:
    """Put U+FFFD for lone surrogates: tokenizers and files would fail on them, far from their source."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _sample(data: bytes) -> bytes:
    """Whole lines that are not ASCII, until there are enough: the others say nothing about the encoding."""
    lines, size = [], 0
    for line in data.split(b"\n"):
        if not line.isascii():
            lines.append(line)
            size += len(line)
        if size > _SAMPLE:
            break
    return b"\n".join(lines)
