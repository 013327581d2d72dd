"""Markdown as plain text: headings, links and emphasis lose their marks and keep their words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpora.passages.document import Document, make_document
from corpora.passages.plain_text import pieces, refuse_binary
from corpora.records import Problem

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


def read(path: str) -> Iterator[Document | Problem]:
    """As plain text; the title is the front matter's, else the first heading."""
    refuse_binary(path)
    title = None
    for piece in pieces(path):
        front = _FRONT_MATTER.match(piece) if title is None else None
        body = piece[front.end() :] if front else piece
        if title is None:
            title = _title(front.group(1) if front else "", body)
        document = make_document(title, plain(body))
        if document is not None:
            yield document


def plain(text: str) -> str:
    """Text without marks. Code in fences is kept as it is."""
    kept = []
    fenced = False
    for line in _without_comments(text).split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            kept.append(line)
        elif not _is_rule(line):
            kept.append(_plain_line(line))
    return "\n".join(kept)


def _plain_line(line: str) -> str:
    heading = _HEADING.fullmatch(line)
    if heading:
        line = _heading_text(heading.group(1))
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


def _heading_text(text: str | None) -> str:
    return (text or "").strip().rstrip("#").strip()


def _without_comments(text: str) -> str:
    parts, position = [], 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[position:start])
        position = end + 3
    return "".join(parts) + text[position:]


def _title(front: str, body: str) -> str:
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
