"""E-mails (`.eml`): who wrote to whom and when, the text, and the names of what is attached."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email import message_from_bytes
from email.message import Message
from email.policy import EmailPolicy
from typing import Any

from corpora.errors import DamagedFile
from corpora.passages import web_page
from corpora.passages.document import Document, make_document, read_within
from corpora.records import Problem
from corpora.text_decoding import UTF_8, decode, decode_stated, guess_encoding, one_line

SHOWN = ("From", "To", "Cc", "Date")
RICHER = 2
"""Times as long as the plain text, which then says that the message is to be read elsewhere."""
MOST_NESTED = 8
"""Depth to which e-mails within e-mails are read."""
LONGEST_HEADER = 4_000
"""Characters of a header that are read: the standard library's parser takes the square of their number."""
MALFORMED = (ValueError, LookupError, AttributeError, TypeError, RecursionError)
"""What the standard library raises for headers and parts that break their rules."""

_HEADER = re.compile(r"\A(?:From |[\w-]+:)")


class _Policy(EmailPolicy):
    """Keeps the letters of headers that are not encoded, of which the standard library drops the bytes."""

    encoding = UTF_8
    """That of the e-mail, for headers that are not UTF-8."""

    def header_source_parse(self, sourcelines: Sequence[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(list(sourcelines))
        raw = value.encode("ascii", "surrogateescape")
        with suppress(UnicodeDecodeError):
            return name, raw.decode("utf-8")
        return name, self.encoding.decode(raw)


def read(path: str) -> Iterator[Document | Problem]:
    """A document an e-mail: the file's, and those that are attached to it. The title is the subject."""
    data = read_within(path, web_page.MAX_BYTES).removeprefix(codecs.BOM_UTF8)
    if not _HEADER.match(data[:200].lstrip().decode("latin-1")):
        raise DamagedFile(f"{path}: not an e-mail: it does not begin with a header")
    try:
        own: dict[str, Any] = {"encoding": guess_encoding(data)}
        message = message_from_bytes(data, policy=_Policy(**own))
        found = list(_documents(message, MOST_NESTED))
    except RecursionError as error:
        raise DamagedFile(f"{path}: its parts are nested too deeply") from error
    if not found:
        raise DamagedFile(f"{path}: no text in it")
    yield from found


def _documents(message: Message, room: int) -> Iterator[Document]:
    heads = [f"{name}: {value}" for name in SHOWN if (value := _header(message, name))]
    texts, attached, nested = list[str](), list[str](), list[Message]()
    _collect(message, texts, attached, nested)
    named = [f"Attachments: {', '.join(attached)}"] * bool(attached)
    parts = ["\n".join(heads), *texts, *named]
    document = make_document(_header(message, "Subject"), "\n\n".join(filter(None, parts)))
    if document is not None:
        yield document
    for inner in nested if room else ():
        yield from _documents(inner, room - 1)


def _collect(part: Message, texts: list[str], attached: list[str], nested: list[Message]) -> None:
    """Gather the texts of a message and the names of its attachments.

    Of alternatives one counts: the plain text, unless the last that has words, the richest, is `RICHER`.
    """
    kind = part.get_content_type()
    try:
        name = part.get_filename() or ""
    except MALFORMED:
        name = ""
    if kind == "message/rfc822":
        nested += [each for each in part.get_payload() if isinstance(each, Message)]
    elif part.is_multipart():
        inner = [each for each in part.get_payload() if isinstance(each, Message)]
        if kind == "multipart/alternative":
            plain = [each for each in inner if each.get_content_type() == "text/plain"]
            words = list[str]()
            for each in (*plain, *reversed([each for each in inner if each not in plain])):
                said = list[str]()
                _collect(each, said, attached, nested)
                if len("".join(said).strip()) > RICHER * len("".join(words).strip()):
                    words = said
            texts += words
            return
        for each in inner:
            _collect(each, texts, attached, nested)
    elif part.get_content_maintype() not in ("text", "multipart") or (name and not _is_inline(part)):
        attached += [one_line(name) or kind]
    else:
        texts.append(_text(part))


def _is_inline(part: Message) -> bool:
    """Whether a part is shown as a part of the message, though it has a name."""
    try:
        return part.get_content_disposition() == "inline"
    except MALFORMED:
        return False


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        text = decode_stated(data, part.get_content_charset() or "")
    except MALFORMED:
        text = decode(data)
    if part.get_content_type() != "text/html":
        return text
    page = web_page.document_of(text)
    return page.text if page is not None else ""


def _header(message: Message, name: str) -> str:
    """The first value of a header, decoded, on one line; empty where there is none."""
    found = (str(value) for key, value in message.raw_items() if key.lower() == name.lower())
    raw = one_line(next(found, ""))[:LONGEST_HEADER]
    try:
        return one_line(str(_Policy().header_factory(name, raw)))
    except MALFORMED:
        return raw
