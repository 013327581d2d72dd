"""Passages into embeddings: files are read, cut into passages, and encoded part by part."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corpora.formats import text_bytes
from corpora.passages.page_layout import ScannedPage, TextLine
from corpora.records import Passage, Problem
from corpora.scan import FoundFile
from corpora.video.reader import MediaReader, PageReader
from indexers.protocol import TextEncoder
from rag.errors import FileProblem
from rag.indexing.copies import LocalGroup
from rag.indexing.interrupts import uninterrupted
from rag.indexing.outcomes import Done, FileOutcomes, require_unchanged
from rag.indexing.planning import Group
from rag.indexing.report import Progress
from rag.store.records import FileRow
from rag.store.writing import Writer

LineReader = Callable[[NDArray[np.uint8]], Sequence[TextLine] | None]
"""The pieces of text in a gray image, uint8 (h, w), upright; None where there is no OCR after all."""
PASSAGES_PER_CALL = 128
"""Encoded and stored together, between two reports of progress."""
PASSAGE_BYTES_PER_SECOND = 400
"""How many bytes of passages count as one second of media in the share that is done: about equal work.

Of two runs on two shared cores 550 and 310, with the bundled encoder at 640 x 360; by the forecast's figures,
for 720p and a ViT-B/32, 2,700.
"""


def document_seconds(found: FoundFile | FileRow) -> float:
    """Seconds of media that take about as long as a document of that size."""
    return text_bytes(found.path, found.size) / PASSAGE_BYTES_PER_SECOND


class PassageIndexer:
    """Takes one passage file after another."""

    def __init__(
        self,
        writer: Writer,
        encoder: TextEncoder,
        reader: MediaReader,
        outcomes: FileOutcomes,
        progress: Progress,
        *,
        read_lines: LineReader | None = None,
    ) -> None:
        """`read_lines`: OCR of scanned pages; None: they are not read."""
        self._writer = writer
        self._encoder = encoder
        self._reader = reader
        self._outcomes = outcomes
        self._progress = progress
        self._read_lines = read_lines
        self._left = 0.0
        """Seconds that the progress has yet to count of the file."""

    def add(self, local: LocalGroup) -> None:
        """Read, encode and store a file, part by part."""
        group, notes, count = local.group, list[str](), 0
        self._progress.file(group.first.path)
        self._left = document_seconds(group.first)
        try:
            with local.opened() as copy:
                found = self._reader.passages(copy.path, self._page_reader(group))
                passages = _passages(found, notes)
                part = list(itertools.islice(passages, PASSAGES_PER_CALL))
                with uninterrupted():
                    self._writer.begin_passages(group.content_id)
                while part:
                    vectors = self._encoder.encode_text([f"{each.title}\n{each.text}" for each in part])
                    with uninterrupted():
                        self._writer.add_passages(group.content_id, part, vectors)
                    count += len(part)
                    self._advance(sum(map(_bytes_of, part)) / PASSAGE_BYTES_PER_SECOND)
                    part = list(itertools.islice(passages, PASSAGES_PER_CALL))
                require_unchanged(group.first)
        except FileProblem as problem:
            with uninterrupted():
                self._writer.drop_passages(group.content_id)
            self._outcomes.skip_file(group, problem)
        else:
            action = f"indexed {count} passage{'' if count == 1 else 's'} of it" if notes else ""
            self._outcomes.finish(group, Done(passages=count, reason="; ".join(notes), action=action))
        self._advance(self._left)
        with uninterrupted():
            self._writer.flush_if_due()

    def _page_reader(self, group: Group) -> PageReader | None:
        """OCR of the pages of a file; the same image is read once."""
        read_lines, known = self._read_lines, dict[bytes, Sequence[TextLine] | None]()
        if read_lines is None:
            return None

        def read(page: ScannedPage) -> Sequence[TextLine] | None:
            digest = hashlib.blake2b(b"%d %d " % page.image.shape + page.image.tobytes()).digest()
            if digest not in known:
                known[digest] = read_lines(page.image)
            self._advance(document_seconds(group.first) / page.pages)
            return known[digest]

        return read

    def _advance(self, seconds: float) -> None:
        """So much more of a file is done; never more than all of it."""
        done = min(seconds, self._left)
        self._left -= done
        self._progress.advance(done)


def _bytes_of(passage: Passage) -> int:
    return len(passage.text.encode("utf-8", "replace"))


def _passages(found: Iterator[Passage | Problem], notes: list[str]) -> Iterator[Passage]:
    """The passages among `found`; what is wrong with single rows goes to `notes`."""
    for each in found:
        if isinstance(each, Passage):
            yield each
        else:
            notes.append(each.reason)
