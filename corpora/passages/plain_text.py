"""Text files of any size and encoding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages.document import Document, cut_point, make_document
from corpora.passages.hyphens import join_words
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
