"""Bytes of unknown encoding into clean text: the same rule for passages and subtitles."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
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


def decode(data: bytes) -> str:
    """Text of any encoding, cleaned; what cannot be decoded becomes U+FFFD."""
    return clean(data.decode(guess_encoding(data), errors="replace"))


def guess_encoding(data: bytes) -> str:
    """A codec name: by byte order mark, zero bytes, validity as UTF-8, and last by statistics."""
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return name
    wide = _wide_encoding(data[:4096])
    if wide:
        return wide
    bad = _first_bad_byte(data)
    return "utf-8" if bad is None else _eight_bit_encoding(data[max(0, bad - SAMPLE // 2) : bad + SAMPLE])


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


def _first_bad_byte(data: bytes) -> int | None:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError as error:
        return error.start
    return None


def _eight_bit_encoding(sample: bytes) -> str:
    loose = sample.decode("utf-8", errors="replace")
    broken = loose.count("\ufffd")
    if broken <= MAX_DAMAGE * sum(character > "\x7f" for character in loose):
        return "utf-8"
    # Lines without an odd byte say nothing about the encoding, and drown those that do.
    informative = b"\n".join(line for line in sample.splitlines() if any(byte > 127 for byte in line))[:16384]
    if _is_western(informative):
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(informative, cp_exclusion=["utf_7", "utf_16", "utf_32"]).best()
    return best.encoding if best is not None else "cp1252"


def _is_western(data: bytes) -> bool:
    """Whether cp1252 gives a text in the letters of one Western language, mostly in plain ones.

    On short texts statistics alone take French for Latvian as easily as for French.
    """
    try:
        text = data.decode("cp1252")
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
    with Path(path).open(encoding=encoding, errors="replace", newline=None) as file:
        while block := file.read(BLOCK):
            yield _UNWANTED.sub("", block)


def _file_encoding(path: str) -> str:
    """The file is read once through for its first byte that is not UTF-8; the guess goes by what is there."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with Path(path).open("rb") as file:
        data = file.read(SAMPLE)
        if any(data.startswith(mark) for mark, _ in BYTE_ORDER_MARKS) or _wide_encoding(data[:4096]):
            return guess_encoding(data)
        while data:
            try:
                decoder.decode(data)
            except UnicodeDecodeError:
                return guess_encoding(data + file.read(SAMPLE))
            data = file.read(BLOCK)
    return "utf-8"
