"""What an answer may rest on: windows and passages, as read, as shown, and as cited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corpora.records import Clip, Evidence, Frames, Passage, cited_title
from corpora.text_decoding import one_line
from localization.windows import Window
from rag.questions import option_label
from rag.reasoners.prompts import PromptItem
from rag.reasoners.roles.material import known_numbers, said
from rag.reasoners.roles.questions import AnchorEvent, RewrittenQuestion
from rag.records import Question


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """What was read of one localized window."""

    path: str
    title: str
    clip: Clip
    window: Window
    retrieval_score: float
    texts: tuple[Evidence, ...]
    """The words in and just around the window, and those of the clip that retrieval found; for an open
    question about what comes before or after an event all of the clip, and the text beside it."""
    frame_times: NDArray[np.float64] | None = None
    frame_vectors: NDArray[np.float32] | None = None
    """(m, d) stored unit vectors of the frames inside the window, at most the frame budget."""
    frames: Frames | None = None
    """Decoded pixels, only for a reasoner that says `reads_pixels`."""
    caption: str | None = None
    """The numbered actions of the frames, which it stands for (they are among `texts`); None where the
    frames themselves are read."""
    zoomed: bool = False
    """Whether the frames are of a closer look (`reasoner.zoom_short_side`)."""
    match: float | None = None
    """In (0, 1]: how likely its clip is the one that is looked for, by frames of this and other clips; None
    where frames were not compared."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """One retrieved passage, with its score and the option that it was retrieved for."""

    passage: Passage
    path: str
    score: float
    option: int | None
    """Index of the option this passage was retrieved for; None for the open question."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything the answer may rest on."""

    question: Question
    rewritten: RewrittenQuestion
    anchor: AnchorEvent
    windows: tuple[ReadWindow, ...]
    passages: tuple[ReadPassage, ...]
    must_choose: bool = False
    """True: of the options one is taken even where the evidence supports none, as an examination asks."""
    all_occurrences: bool = False
    """Whether the windows are all those of one video in which the event that the question counts is seen."""
    keywords: tuple[str, ...] = ()
    """Keywords of the question that the windows were captioned for (EgoFact, D.2.3)."""
    text_vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    """Unit float32 (dim,) of the library's text encoder, by text of the windows: need not be encoded."""


def window_items(reading: Reading) -> list[PromptItem]:
    """Each window with its frames, under the number by which it is cited."""
    return [_window_item(f"window {index}", window) for index, window in enumerate(reading.windows)]


def passage_items(reading: Reading) -> list[PromptItem]:
    """Each passage under the number by which it is cited."""
    shown = []
    for index, read in enumerate(reading.passages):
        found_for = "" if read.option is None else f"\nFound for option: {option_label(read.option)}"
        title = one_line(cited_title(read.passage.title, read.passage.pages, read.path)) or "(none)"
        text = f"Title: {title}{found_for}\nText: {read.passage.text}"
        shown.append(PromptItem(f"passage {index}", text))
    return shown


def known_citations(
    windows: Iterable[int], passages: Iterable[int], reading: Reading
) -> dict[str, tuple[int, ...]]:
    """Keep the numbers of windows and passages that the reading has, each once."""
    return {
        "windows": known_numbers(windows, len(reading.windows)),
        "passages": known_numbers(passages, len(reading.passages)),
    }


def _window_item(name: str, window: ReadWindow) -> PromptItem:
    lines = [
        f"Video: {one_line(window.title) or '(no title)'}",
        f"Time: {window.window.start:.1f} s to {window.window.end:.1f} s",
    ]
    lines += [said(evidence) for evidence in window.texts]
    images: tuple[NDArray[np.uint8], ...] = ()
    names: tuple[str, ...] = ()
    if window.frames is not None:
        images = tuple(window.frames.images)
        if images:
            names = tuple(f"{time:.1f} s" for time in window.frames.times)
            lines.append("Frames at: " + ", ".join(names))
    return PromptItem(name, "\n".join(lines), images, names, window.zoomed)
