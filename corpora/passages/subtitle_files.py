"""Subtitles without a video: what is said, in paragraphs between the pauses.

The pages of such a document are the seconds at which its sentences begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from corpora.errors import DamagedFile
from corpora.passages.document import Document, PageStart, make_document
from corpora.records import Problem
from corpora.video.records import TimedText
from corpora.video.sidecars import read_sidecar

PAUSE = 2.0
"""Seconds without speech after which a paragraph begins."""
LONGEST = 250
"""Characters of speech without a stop after which a paragraph begins at the next cue."""
_END = re.compile(r"[.!?…。！？][\"'”’)\]]*\Z")


def read(path: str) -> Iterator[Document | Problem]:
    """One document, without a title."""
    found = read_sidecar(path)
    if not found.texts:
        raise DamagedFile(f"{path}: no subtitles in it")
    text, starts = "", list[PageStart]()
    for begin, said, between in _sentences(found.texts):
        text += between * bool(text)
        starts.append(PageStart(len(text), int(begin)))
        text += said
    document = make_document("", text, pages=starts)
    if document is None:
        raise DamagedFile(f"{path}: no subtitles in it")
    yield document
    for note in found.notes:
        yield Problem(path, note.partition(": ")[2], "indexed the rest")


def _sentences(cues: Sequence[TimedText]) -> Iterator[tuple[float, str, str]]:
    """When a sentence begins, in seconds; the sentence, up to the end of a cue; and the blanks before it."""
    begin, said, before, last = 0.0, "", "", 0.0
    for cue in cues:
        paused, ended = cue.start - last > PAUSE or len(said) > LONGEST, _END.search(said)
        if said and (paused or ended):
            yield begin, said, before
            said = ""
        if not said:
            begin, before = cue.start, "\n\n" if paused else " "
        said = f"{said} {cue.text}".strip()
        last = max(last, cue.end)
    if said:
        yield begin, said, before
