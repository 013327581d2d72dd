"""Bytes of unknown encoding into clean text: the same rule for passages and subtitles."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SAMPLE = 256 * 2**10
BLOCK = 2**20
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MAX_DAMAGE = 0.05
"""UTF-8 with at most this share of its non-ASCII characters broken is still UTF-8."""

WESTERN = tuple(
    frozenset(letters)
    for letters in (
        "àâæçéèêëîïôœùûüÿñ",
        "äöüßéàè",
        "áéíóúüñ¿¡ªº",
        "àáâãçéêíóôõúüªº",
        "àèéìíîòóùú",
        "åäöæøéèüáàóôê",
        "éëïöüáóíèê",
        "áéíóúýðþæö",
        "àçéèíïóòúü·",
    )
)
"""French, German, Spanish, Portuguese, Italian, Nordic, Dutch, Icelandic, Catalan."""
TYPOGRAPHY = frozenset("“”‘’„«»‹›–—…€£°©®™•·§×±µ½¼\xa0")
MAX_WESTERN_SHARE = 0.34

_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff\ud800-\udfff]")
_SOFT_HYPHEN = re.compile(r"\u00ad(?:[ \t]*\n[ \t]*(?=[^\W\d_]))?")
"""And the line end at which it is shown: "Turm\u00ad\ndrehkran" is one word."""
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def clean(text: str) -> str:
    """Valid, printable Unicode with `\\n` as the only line end; control characters and soft hyphens are
    dropped."""
    plain = _UNWANTED.sub("", _NEWLINES.sub("\n", text))
    return _SOFT_HYPHEN.sub("", plain) if "\u00ad" in plain else plain


def one_line(text: str) -> str:
    """Cleaned, with every run of white space made one blank."""
    return " ".join(clean(text).split())


def without_blanks(text: str) -> str:
    """Without any white space, by which texts compare that are broken into lines in other places."""
    return "".join(text.split())


@dataclass(frozen=True)
class Encoding:
    """How the bytes of one file become text."""

    name: str
    """A codec."""
    mixed: bool = False
    """Whether only the lines that are not UTF-8 are in that codec."""

    def decode(self, data: bytes) -> str:
        """What cannot be decoded becomes U+FFFD."""
        if not self.mixed:
            return data.decode(self.name, errors="replace")
        lines = data.splitlines(keepends=True)
        return "".join(line.decode("utf-8" if _is_utf8(line) else self.name, "replace") for line in lines)


UTF_8 = Encoding("utf-8")


def decode(data: bytes) -> str:
    """Text of any encoding, cleaned; what cannot be decoded becomes U+FFFD."""
    return clean(guess_encoding(data).decode(data))


def guess_encoding(data: bytes) -> Encoding:
    """By byte order mark, zero bytes, validity as UTF-8, and last by statistics."""
    if marked := _marked_encoding(data):
        return Encoding(marked)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError as error:
        return _eight_bit_encoding(data, error.start)
    return UTF_8


def _marked_encoding(data: bytes) -> str:
    """The codec of a byte order mark or of zero bytes; empty without either."""
    marked = (name for mark, name in BYTE_ORDER_MARKS if data.startswith(mark))
    return next(marked, "") or _wide_encoding(data[:4096])


def _wide_encoding(head: bytes) -> str:
    """UTF-16 without a mark: nearly all zero bytes are on one side of the pairs."""
    if len(head) < 4:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.4 * len(head) / 2 and even < 0.05 * len(head):
        return "utf-16-le"
    if even > 0.4 * len(head) / 2 and odd < 0.05 * len(head):
        return "utf-16-be"
    return ""


def _eight_bit_encoding(data: bytes, bad: int) -> Encoding:
    """Of data that is not UTF-8 at `bad`, by the lines around it."""
    sample = data[max(0, bad - SAMPLE // 2) : bad + SAMPLE]
    lines = sample.splitlines()
    if len(sample) < len(data):
        lines = lines[1:-1] or lines
    # Lines without an odd byte say nothing about the encoding, and drown those that do.
    odd = [line for line in lines if not line.isascii()]
    valid = [line for line in odd if _is_utf8(line)]
    others = b"\n".join(line for line in odd if not _is_utf8(line))[:16384]
    loose = b"\n".join(odd).decode("utf-8", errors="replace")
    damaged = loose.count("\ufffd") <= MAX_DAMAGE * _count_odd(loose)
    western = _is_western(others, "cp1252")
    if damaged and not western:
        return UTF_8
    mixed = damaged or 2 * len(valid) >= len(odd) or _is_western(b"\n".join(valid)[:16384], "utf-8")
    if western:
        return Encoding("cp1252", mixed)
    from charset_normalizer import from_bytes

    best = from_bytes(others, cp_exclusion=["utf_7", "utf_16", "utf_32"]).best()
    return Encoding(best.encoding if best is not None else "cp1252", mixed)


def _is_utf8(line: bytes) -> bool:
    """Whether more of its non-ASCII characters are valid than not."""
    loose = line.decode("utf-8", errors="replace")
    broken = loose.count("\ufffd")
    return not broken or 2 * broken < _count_odd(loose)


def _count_odd(text: str) -> int:
    return sum(character > "\x7f" for character in text)


def _is_western(data: bytes, encoding: str) -> bool:
    """Whether a codec gives a text in the letters of one Western language, mostly in plain ones.

    On short texts statistics alone take French for Latvian as easily as for French.
    """
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return False
    odd = {character.lower() for character in text if character > "\x7f"} - TYPOGRAPHY
    letters = [character for character in text if character.isalpha()]
    dense = sum(letter > "\x7f" for letter in letters) > MAX_WESTERN_SHARE * len(letters)
    return not dense and any(odd <= language for language in WESTERN)


def read_text_blocks(path: str) -> Iterator[str]:
    """The text of a file in blocks of about 1 Mi characters; any encoding, any size.

    Line ends are `\n`; control characters are dropped. The rarer line separators, which
    `clean` makes line ends, are kept: inside a JSON string they end nothing. Raises `OSError`.
    """
    encoding = _file_encoding(path)
    if encoding.mixed:
        yield from _mixed_blocks(path, encoding)
        return
    with Path(path).open(encoding=encoding.name, errors="replace", newline=None) as file:
        while block := file.read(BLOCK):
            yield _UNWANTED.sub("", block)


def _mixed_blocks(path: str, encoding: Encoding) -> Iterator[str]:
    """Whole lines, but of those that are longer than half a block."""
    with Path(path).open("rb") as file:
        while data := file.read(BLOCK // 2) + file.readline(BLOCK // 2):
            yield _UNWANTED.sub("", encoding.decode(data).replace("\r\n", "\n").replace("\r", "\n"))


def _file_encoding(path: str) -> Encoding:
    """The file is read once through for its first byte that is not UTF-8; the guess goes by what is there."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with Path(path).open("rb") as file:
        data = file.read(SAMPLE)
        if marked := _marked_encoding(data):
            return Encoding(marked)
        while data:
            try:
                decoder.decode(data)
            except UnicodeDecodeError as error:
                return _eight_bit_encoding(error.object + file.read(SAMPLE), error.start)
            data = file.read(BLOCK)
    return UTF_8
