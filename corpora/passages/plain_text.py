"""Text files of any size and encoding: plain, and Markdown without its marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from corpora.errors import DamagedFile, UnsupportedFile
from corpora.passages import tables
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


MAX_INLINE = 10_000
"""Lines longer than this are no prose, and are left as they are."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:(.+)$", re.MULTILINE | re.IGNORECASE)
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t](.*))?")
_QUOTE = re.compile(r"\A[ \t]*(?:>[ \t]?)+")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_INLINE = (
    (re.compile(r"!?\[([^\[\]]{0,500})\]\((?:[^()]|\([^()]{0,200}\)){0,1000}\)"), r"\1"),
    (re.compile(r"!?\[([^\[\]]{1,500})\]\[[^\[\]]{0,200}\]"), r"\1"),
    (re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]{1,300})(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`+([^`]{1,300})`+"), r"\1"),
)


def read_markdown(path: str) -> Iterator[Document | Problem]:
    """As plain text; the title is the front matter's, else the first heading."""
    refuse_binary(path)
    title = None
    for piece in pieces(path):
        front = _FRONT_MATTER.match(piece) if title is None else None
        body = piece[front.end() :] if front else piece
        if title is None:
            title = markdown_title(front.group(1) if front else "", body)
        document = make_document(title, plain(body))
        if document is not None:
            yield document
    yield from doubts(path)


def plain(text: str) -> str:
    """Text without marks. Code in fences is kept as it is, and tables as a passage has them."""
    kept: list[str] = []
    fenced = in_table = False
    for line in _without_comments(text).split("\n"):
        bare = _QUOTE.sub("", line)
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            kept.append(line)
        elif tables.is_rule(bare) and not in_table and kept and "|" in kept[-1]:
            in_table = True
            kept[-1] = tables.row(tables.cells_of(kept[-1]), heads=True)
        elif not _is_rule(bare):
            in_table = in_table and "|" in line
            line = _plain_line(line)
            kept.append(tables.row(tables.cells_of(line)) if in_table else line)
    return "\n".join(kept)


def _plain_line(line: str) -> str:
    heading = _HEADING.fullmatch(line)
    if heading:
        line = (heading.group(1) or "").strip().rstrip("#").strip()
    line = _QUOTE.sub("", line)
    if len(line) <= MAX_INLINE:
        for pattern, replacement in _INLINE:
            line = pattern.sub(replacement, line)
    return line


def _is_rule(line: str) -> bool:
    """Lines under headings, between sections, and below the head of a table."""
    marks = set(line) - {" ", "\t"}
    return (
        len(line) >= 3 and bool(marks) and (marks <= set("|:-") or (len(marks) == 1 and marks <= set("=*_")))
    )


def _without_comments(text: str) -> str:
    parts, position = [], 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[position:start])
        position = end + 3
    return "".join(parts) + text[position:]


def markdown_title(front: str, body: str) -> str:
    """The title of a Markdown text: that of its front matter, else its first heading; empty without one."""
    stated = _FRONT_TITLE.search(front)
    if stated:
        return stated.group(1).strip().strip("\"'")
    before = ""
    for line in body.split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            return _plain_line(line)
        if before.strip() and set(line.strip()) == {"="}:
            return _plain_line(before)
        before = line
    return ""
