"""Bytes of unknown encoding into clean text: the same rule for passages and subtitles."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

SAMPLE = 256 * 2**10
BLOCK = 2**20
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
RARE = ("cp850", "cp852", "mac-roman", "mac-cyrillic", "iso8859-6")
"""Codecs of DOS, old Macs and few texts."""
CODECS = (
    *("cp1252", "iso8859-1", "cp1250", "iso8859-2", "cp1254", "cp1257", "cp1258", "cp1251", "koi8-r"),
    *("koi8-u", "iso8859-5", "cp866", "cp1253", "iso8859-7", "cp1255", "cp1256", "cp874", "cp932"),
    *("euc_jis_2004", "iso2022_jp_2", "gb18030", "big5hkscs", "cp949", "euc_kr"),
    *RARE,
)
"""Among which the detector chooses: those in which subtitles and texts are found, by their Python names."""
SUPERSETS = {"iso8859-1": "cp1252", "euc_jis_2004": "euc_jp"}
HINTED = 0.5
"""Share of the best confidence from which an encoding of the expected language goes before the best."""
UNSURE, RIVAL = 0.1, 0.8
"""Confidence below which an encoding is unsure, where another text has this share of it: 85 % are right."""
WESTERN = "cp1252"
PRIOR = {WESTERN: 1.1, **dict.fromkeys(RARE, 0.7)}
"""By how much the confidence of the most common codec is raised, and that of rare ones lowered."""
MIXED = 0.2
"""Share of letters of other alphabets than the Latin one from which too many stand beside Latin ones; and of
capitals beyond ASCII, from which too many stand behind small letters."""
INNER_CAPITALS = 0.65
"""By how much the confidence of a codec is lowered that puts many capitals within words, as in Russian of
a Mac read as that of Windows; Irish ("na hÉireann") has them."""
LEAST_PLAIN = 100
"""Bytes of lines of ASCII that the detector sees, at least; else as many as of the other lines, which more
would drown."""
CHANCE = 3
"""Most characters of a line in an old encoding that may be valid UTF-8 by chance."""
IN_PARTS = frozenset(("cp932", "euc_jp", "iso2022_jp_2", "gb18030", "big5hkscs", "cp949", "euc_kr"))
"""Codecs with characters of several bytes: of these no single one can be told from broken UTF-8."""
expected_language: ContextVar[str] = ContextVar("expected_language", default="")
"""Code of two letters of the language in which texts of unknown encoding may be; empty: any."""

_WORD = re.compile(rb"[A-Za-z]{2}")
_OTHER_LETTER = re.compile(r"[\u0370-\u0e7f]")
_TWO_ALPHABETS = re.compile(r"[A-Za-z][\u0370-\u0e7f]|[\u0370-\u0e7f][A-Za-z]")
_CAPITALS, _SMALL = (
    "".join(filter(kind, map(chr, range(0x80, 0x530)))) for kind in (str.isupper, str.islower)
)
_CAPITAL, _INNER_CAPITAL = re.compile(f"[{_CAPITALS}]"), re.compile(f"[a-z{_SMALL}][{_CAPITALS}]")
_NO_TEXT = re.compile(r"[\x80-\x9f\ufffd]")
_UNWANTED = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters, marks of direction, and blanks without width."""
_SOFT_HYPHEN = re.compile(r"\u00ad(?:[ \t]*\n[ \t]*(?=[^\W\d_]))?")
"""And the line end at which it is shown: "Turm\u00ad\ndrehkran" is one word."""
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def clean(text: str) -> str:
    """Valid, printable Unicode with `\\n` as the only line end; control characters, marks of direction and
    soft hyphens are dropped."""
    plain = _UNWANTED.sub("", _NEWLINES.sub("\n", text))
    return _SOFT_HYPHEN.sub("", plain) if "\u00ad" in plain else plain


def one_line(text: str) -> str:
    """Cleaned, with every run of white space made one blank."""
    return " ".join(clean(text).split())


def without_blanks(text: str) -> str:
    """Remove all white space, to compare texts that are broken into lines in other places."""
    return "".join(text.split())


@dataclass(frozen=True)
class Encoding:
    """How the bytes of one file become text."""

    name: str
    """A codec; where the file is `mixed`, that of what is no UTF-8."""
    mixed: bool = False
    """Whether what is valid UTF-8 is that."""
    unsure: bool = False
    """Whether the codec may well be another."""

    @property
    def options(self) -> tuple[str, str]:
        """`encoding` and `errors` for `open` and `bytes.decode`; what cannot be decoded becomes U+FFFD."""
        if not self.mixed:
            return self.name, "replace"

        def other(error: UnicodeError) -> tuple[str, int]:
            assert isinstance(error, UnicodeDecodeError)
            return error.object[error.start : error.end].decode(self.name, "replace"), error.end

        codecs.register_error(f"rag.{self.name}", other)
        return "utf-8", f"rag.{self.name}"

    def decode(self, data: bytes) -> str:
        """The text of the file's bytes."""
        return data.decode(*self.options)

    @property
    def doubt(self) -> str:
        """What to do where the codec is unsure; empty where it is not."""
        said = f"its encoding is guessed as {self.name} from few letters; if it is wrong, save it as UTF-8"
        return said if self.unsure else ""


UTF_8 = Encoding("utf-8")


def decode(data: bytes) -> str:
    """Text of any encoding, cleaned; what cannot be decoded becomes U+FFFD."""
    return clean(guess_encoding(data).decode(data))


def decode_stated(data: bytes, stated: str) -> str:
    """Decode a text that names its encoding. UTF-8 may be named Western, as many programs do."""
    with suppress(LookupError, ValueError):
        known = codecs.lookup(stated).name
        name = SUPERSETS.get(known, known)
        with suppress(UnicodeDecodeError):
            return clean(data.decode("utf-8" if name == WESTERN else name))
        return clean(data.decode(name))
    return decode(data)


def guess_encoding(data: bytes, language: str = "") -> Encoding:
    """Guess by byte order mark, zero bytes, validity as UTF-8, and last by statistics.

    `language`: the likely one, as a code of two letters; empty: `expected_language`.
    """
    return _encoding_of(io.BytesIO(data), language)


def _marked_encoding(data: bytes) -> str:
    """The codec of a byte order mark or of zero bytes; empty without either."""
    marked = (name for mark, name in BYTE_ORDER_MARKS if data.startswith(mark))
    japanese = "iso2022_jp_2" if b"\x1b$B" in data and data.isascii() else ""
    return next(marked, "") or _wide_encoding(data[:4096]) or japanese


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


def _eight_bit_encoding(data: bytes, bad: int, language: str) -> Encoding:
    """The encoding of data that is not UTF-8 at `bad`, judged by the lines around it."""
    sample = data[max(0, bad - SAMPLE // 2) : bad + SAMPLE]
    lines = sample.splitlines()
    if len(sample) < len(data):
        lines = lines[1:-1] or lines
    odd = [(line, *_utf8_characters(line)) for line in lines if not line.isascii()]
    valid = "".join(characters for _, characters, _ in odd)
    broken = sum(count for _, _, count in odd)
    others = [line for line, characters, count in odd if count > len(characters)]
    if len(valid) > broken and not others:
        return UTF_8
    telling = b"\n".join(others or [line for line, _, _ in odd])
    plain = b"\n".join(line for line in dict.fromkeys(lines) if line.isascii() and _WORD.search(line))
    telling += b"\n" + plain[: max(LEAST_PLAIN, len(telling))]
    name, unsure = _detected(telling, language or expected_language.get())
    most = len(valid) > broken or (len(valid) == broken and _has(name, valid))
    some = any(not count and (len(own) > CHANCE or _has(name, own)) for _, own, count in odd)
    return Encoding(name, most or (some and name not in IN_PARTS), unsure)


def _utf8_characters(line: bytes) -> tuple[str, int]:
    """The characters beyond ASCII that a line has as UTF-8, and how many are broken."""
    odd = [character for character in line.decode("utf-8", errors="replace") if character > "\x7f"]
    valid = "".join(character for character in odd if character != "\ufffd")
    return valid, len(odd) - len(valid)


def _has(codec: str, characters: str) -> bool:
    """Whether a codec has all of some characters."""
    try:
        characters.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def _detected(data: bytes, language: str) -> tuple[str, bool]:
    """The codec of bytes, and whether it is unsure.

    It is the best by its letters, or one that is nearly as good, in the language that is expected. One in
    which words mix two alphabets is the last.
    """
    import chardet

    read = []
    for one in chardet.detect_all(data, ignore_threshold=True, compat_names=False, include_encodings=CODECS):
        found = one["encoding"] or WESTERN
        name = SUPERSETS.get(found, found)
        text, score = data.decode(name, "replace"), one["confidence"] * PRIOR.get(name, 1.0)
        inner = len(_INNER_CAPITAL.findall(text)) > MIXED * len(_CAPITAL.findall(text))
        read.append((score * (INNER_CAPITALS if inner else 1), name, text, one["language"] == language))
    plain = [each for each in read if not (_mixes_alphabets(each[2]) or _NO_TEXT.search(each[2]))] or read
    ranked = sorted(plain, key=lambda each: -each[0])
    first = ranked[0][0]
    best = next((each for each in ranked if each[3] and each[0] >= HINTED * first), ranked[0])
    rivaled = any(each[0] >= RIVAL * best[0] and each[2] != best[2] for each in ranked)
    return best[1], best[0] < UNSURE and rivaled and not best[3]


def _mixes_alphabets(text: str) -> bool:
    """Whether many letters of other alphabets stand beside Latin ones, as in French read as Russian."""
    others = len(_OTHER_LETTER.findall(text))
    return len(_TWO_ALPHABETS.findall(text)) > MIXED * others


def read_text_blocks(path: str) -> Iterator[str]:
    """The text of a file in blocks of about 1 Mi characters; any encoding, any size.

    Line ends are `\n`; control characters are dropped. The rarer line separators, which
    `clean` makes line ends, are kept: inside a JSON string they end nothing. Raises `OSError`.
    """
    with _opened(path) as file:
        while block := file.read(BLOCK):
            yield _UNWANTED.sub("", block)


def read_lines(path: str, most: int) -> Iterator[str]:
    """Read lines with their ends, cut after about `most` characters, as `read_text_blocks`."""
    with _opened(path) as file:
        while line := file.readline(most):
            yield _UNWANTED.sub("", line)


def _opened(path: str) -> TextIO:
    encoding, errors = file_encoding(path).options
    return Path(path).open(encoding=encoding, errors=errors, newline=None)


def file_encoding(path: str) -> Encoding:
    """Guess a file's encoding; it is read through for its first byte that is not UTF-8."""
    with Path(path).open("rb") as file:
        return _encoding_of(file)


def _encoding_of(file: BinaryIO, language: str = "") -> Encoding:
    decoder = codecs.getincrementaldecoder("utf-8")()
    data = file.read(SAMPLE)
    if marked := _marked_encoding(data):
        return Encoding(marked)
    more = True
    while more:
        more = bool(data)
        try:
            decoder.decode(data, final=not more)
        except UnicodeDecodeError as error:
            return _eight_bit_encoding(error.object + file.read(SAMPLE), error.start, language)
        data = file.read(BLOCK)
    return UTF_8
