"""Documents into passages that a sentence encoder reads whole: LlamaIndex's sentence splitter."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from corpora.passages.document import Document, cut_point, read_documents
from corpora.passages.tables import BETWEEN_ROWS, HEADS, OPENING, is_row, with_heads
from corpora.records import Passage, Problem
from corpora.text_decoding import without_blanks

if TYPE_CHECKING:
    from corpora.passages.page_layout import RecognizedPage

CHUNK_SIZE = 220
"""Estimated word pieces of a passage with its title: the encoder's limit is 256 with two marks."""
CHUNK_OVERLAP = 30
MAX_TITLE_SHARE = 60
LEAST_ROOM = 100
"""Beside a title and the heads of a table, which each of its passages repeats."""
MAX_SECTION = 20_000
"""Characters that go to the splitter at once; nothing overlaps from one section to the next."""

MAX_ODD_SECTION = 200
"""The same of text of which more than `MAX_ENDS` are `!` and `?`, as where each letter of a lost alphabet has
become a question mark: the splitter takes each for a sentence, and reads all after it again."""
MAX_ENDS = 0.2

_PIECE = re.compile(
    r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]|[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_"
)

_LAST_HEADINGS = re.compile(r"(?<=[.!?…|])(?:\s*\n[^\Wa-z_][^\n]{0,78}[^\W_][)?]?){1,2}\Z")
"""One or two lines after a sentence or a table that do not end like one."""

_UNBROKEN = re.compile(r"[^\s。！？；，、]{1000}")
"""No word of any language: encoded data and the like."""


def chunk(document: Document) -> list[Passage]:
    """Passages of one document in its order, overlapping by a sentence or two.

    `passage_id` is a hash over title and text alone: equal content has one id in whatever file, and a text
    repeated within a document is one passage, of the pages that have it first. Short documents need no
    splitter, whose import costs seconds.
    """
    room = CHUNK_SIZE - min(count_pieces(document.title), MAX_TITLE_SHARE)
    if count_pieces(document.text) <= room:
        parts = [document.text.strip()]
    else:
        room -= max(map(count_pieces, HEADS.findall(document.text)), default=0)
        room = max(room, LEAST_ROOM)
        splitter = _splitter(room)
        openings = [
            each for each in OPENING.findall(document.text) if room < count_pieces(each) <= CHUNK_SIZE
        ]
        split = [
            text
            for part in _sections(document.text)
            for piece in _apart(part, openings)
            for text in ([piece] if piece in openings else splitter.split_text(piece))
        ]
        parts = list(_headings_first(split))
    passages: dict[str, Passage] = {}
    texts = list(with_heads(parts))
    for text, (pages, starts) in zip(texts, _pages_of(document, parts, texts), strict=True):
        key = hashlib.blake2b(f"{document.title}\0{text}".encode()).hexdigest()[:24]
        passages.setdefault(key, Passage(key, document.doc_id, document.title, text, pages, starts))
    return list(passages.values())


def read_passages(
    path: str | os.PathLike[str], recognized: Sequence[RecognizedPage] | None = None
) -> Iterator[Passage | Problem]:
    """The passages of one file, streamed, each content once. Takes and raises what `read_documents` does."""
    seen: set[str] = set()
    for document in read_documents(path, recognized):
        if isinstance(document, Problem):
            yield document
            continue
        for passage in chunk(document):
            if passage.passage_id not in seen:
                seen.add(passage.passage_id)
                yield passage


def count_pieces(text: str) -> int:
    """A cheap estimate of word pieces, seldom too low: a word counts one for each six letters."""
    return len(_PIECE.findall(text))


def _sections(text: str) -> Iterator[str]:
    """Pieces that bound the splitter's work: on odd texts it grows with the square of the length."""
    text = _UNBROKEN.sub(r"\g<0> ", text)
    start = 0
    while start < len(text):
        part = text[start : start + MAX_SECTION + 1]
        odd = part.count("?") + part.count("!") > MAX_ENDS * len(part)
        limit = MAX_ODD_SECTION if odd else MAX_SECTION
        cut = cut_point(part, limit) if len(part) > limit else len(part)
        yield part[:cut]
        start += cut


def _apart(text: str, openings: Collection[str]) -> list[str]:
    """The text, cut before and after each of the openings of tables."""
    if not openings:
        return [text]
    return [piece for piece in re.split(f"({'|'.join(map(re.escape, openings))})", text) if piece.strip()]


def _headings_first(parts: Sequence[str]) -> Iterator[str]:
    """The parts; headings at the end of one begin the next instead."""
    moved = ""
    for number, part in enumerate(parts):
        overlaps = not moved or f"\n{moved}\n" in f"\n{part}\n"
        text = part if overlaps else f"{moved}\n\n{part}"
        found = _LAST_HEADINGS.search(text) if number + 1 < len(parts) else None
        moved = found[0].strip() if found else ""
        yield text[: found.start()] if found else text


def _pages_of(
    document: Document, parts: Sequence[str], texts: Sequence[str]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """`Passage.pages` and `Passage.page_starts` of each of `texts`: a part of the document, in its order and
    perhaps with other blanks, behind the heads of its table, if any."""
    if not document.pages:
        return [((), ())] * len(parts)
    places = [*(page.place for page in document.pages), len(document.text)]
    held = [without_blanks(document.text[start:end]) for start, end in pairwise(places)]
    whole, ends = "".join(held), list(accumulate(map(len, held)))
    found = []
    at = -1
    for part, text in zip(map(without_blanks, parts), map(without_blanks, texts), strict=True):
        at = max(at, whole.find(part, at + 1))
        first, last = bisect_right(ends, at), bisect_left(ends, at + len(part))
        heads = len(text) - len(part)
        begun = [
            (document.pages[number].number, ends[number] - len(held[number]) - at)
            for number in range(first, min(last + 1, len(held)))
            if held[number]
        ]
        starts = tuple(start + heads if start > 0 else 0 for _, start in begun)
        found.append((tuple(number for number, _ in begun), starts))
    return found


@functools.lru_cache(maxsize=MAX_TITLE_SHARE + 1)
def _splitter(size: int) -> Any:
    """Punkt is made here, without its data files: LlamaIndex would look for them, and then download."""
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer_internal
    from nltk.tokenize import PunktSentenceTokenizer

    punkt = PunktSentenceTokenizer()

    def sentences(text: str) -> list[str]:
        parts = BETWEEN_ROWS.split(text)
        split = split_by_sentence_tokenizer_internal
        return [each for part in parts for each in ([part] if is_row(part) else split(part, punkt))]

    return SentenceSplitter(
        chunk_size=size,
        chunk_overlap=CHUNK_OVERLAP,
        tokenizer=_PIECE.findall,
        paragraph_separator="\n\n",
        chunking_tokenizer_fn=sentences,
    )
