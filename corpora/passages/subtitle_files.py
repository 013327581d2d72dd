"""Subtitles without a video: what is said, in paragraphs between the pauses.

The pages of such a document are the seconds at which its cues begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpora.errors import DamagedFile
from corpora.passages.document import Document, PageStart, make_document
from corpora.records import Problem
from corpora.text_decoding import clean, one_line
from corpora.video.sidecars import read_sidecar

PAUSE = 2.0
"""Seconds without speech after which a paragraph begins."""
LONGEST = 250
"""Characters of speech without a stop after which a paragraph begins at the next cue."""
_STOP = re.compile(r"[.!?…。！？।॥۔؟｡♪][\"'”’»)\]」』）]*\Z")


def read(path: str) -> Iterator[Document | Problem]:
    """One document, without a title."""
    found = read_sidecar(path)
    text, starts = "", list[PageStart]()
    last, unended = 0.0, 0
    for cue in found.texts:
        said = one_line(clean(cue.text))
        if not said:
            continue
        if text:
            text += "\n\n" if cue.start - last > PAUSE or unended > LONGEST else " "
        if not starts or starts[-1].number < int(cue.start):
            starts.append(PageStart(len(text), int(cue.start)))
        text += said
        last, unended = max(last, cue.end), 0 if _STOP.search(said) else unended + len(said)
    document = make_document("", text, pages=starts)
    if document is None:
        raise DamagedFile(f"{path}: no subtitles in it")
    yield document
    for note in found.notes:
        yield Problem(path, note.partition(": ")[2], "indexed the rest")
