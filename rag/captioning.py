"""Captions of windows in place of their frames: the answer then rests on text alone (EgoFact, 3.1).

Keywords are taken from the question; a model that sees the frames of a window lists the actions that
concern them; the answer is read off the captions, the words of the windows and the passages (D.2.3).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.records import Evidence
from rag.reasoners.roles.caption_window import CAPTION_WINDOW, CaptionRequest
from rag.reasoners.roles.extract_keywords import EXTRACT_KEYWORDS
from rag.reasoners.roles.material import VideoView

if TYPE_CHECKING:
    from rag.reasoners.protocol import Reasoner
    from rag.reasoners.roles.reading import Reading, ReadWindow


def caption_windows(reasoner: Reasoner, reading: Reading) -> Reading:
    """The reading with each window's caption among its texts, and without its frames.

    A window without frames stays as it is. Raises `ReasonerError`.
    """
    if not reading.windows:
        return reading
    keywords = reasoner.run(EXTRACT_KEYWORDS, reading.question).keywords
    windows = tuple(caption_window(reasoner, window, keywords) for window in reading.windows)
    return replace(reading, windows=windows, keywords=keywords)


def caption_window(reasoner: Reasoner, read: ReadWindow, keywords: tuple[str, ...] = ()) -> ReadWindow:
    """One window as text: its words, and the numbered actions of its frames as evidence of kind `caption`."""
    if read.frames is None and read.frame_vectors is None:
        return read
    start, end = read.window.start, read.window.end
    view = VideoView(
        title=read.title,
        start=start,
        end=end,
        frame_times=read.frame_times,
        frame_vectors=read.frame_vectors,
        frames=read.frames,
    )
    caption = reasoner.run(CAPTION_WINDOW, CaptionRequest(view, keywords)).text
    evidence = (Evidence(read.window.video_id, start, end, "caption", caption),) if caption else ()
    texts = (*read.texts, *evidence)
    return replace(read, texts=texts, caption=caption, frame_times=None, frame_vectors=None, frames=None)
