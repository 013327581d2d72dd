"""What an interval of a video shows: its text, the nearest labels of its frames, and missing keywords.

Where more is said or shown than a caption has room for, it quotes what is nearest to the question.
No image is described freely. What the caption says of the frames is a list of
labels that they are near to (`scoring`), and of the facets' own words those
that reach a relevance of one half and are nearer than all of those; both under "seems to show".
The timeline has chapters and lines as they are, and frames by their nearest labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import SPOKEN
from rag.reasoners.embedded.lines import ScoredLine, lines, rank_lines, relevances
from rag.reasoners.embedded.locate import event_text
from rag.reasoners.embedded.scoring import ZeroShotScorer
from rag.reasoners.roles.caption_window import CaptionRequest, WindowCaption
from rag.reasoners.roles.decompose_facets import Facet
from rag.reasoners.roles.material import VideoView
from rag.reasoners.roles.observe import Observation, ObserveRequest
from rag.reasoners.roles.summarize import SummarizeRequest, VideoSummary
from rag.reasoners.roles.timeline import Timeline, TimelineEvent, TimelineRequest
from rag.words import content_words, word_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.reasoners.embedded.scoring import SentenceVectors


SUPPORTED = 0.5
MAX_SPOKEN_LINES, MAX_SCREEN_LINES = 6, 4
"""Lines of a caption that are spoken, and that stand on the screen."""
MOST_COMPARED = 24

_DESCRIBED_KINDS = ("caption", "chapter")
_QUOTATION = re.compile(r"\s*\b(?:On the screen|Said): “[^“”]*”\.(?=\s|$)")
ROOM = ((SPOKEN, MAX_SPOKEN_LINES), (("ocr",), MAX_SCREEN_LINES), (_DESCRIBED_KINDS, MAX_SCREEN_LINES))


def observe(request: ObserveRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> Observation:
    """Caption, missing keywords and open queries of a view; see the module for the rules."""
    view = request.view
    facets = request.facets or (Facet("question", (), (request.vlm_query or request.question.text,)),)
    lines_ = lines(view)
    described = _selected_lines(lines_, request.question.text, view, vectors)
    keywords = list(dict.fromkeys(word for facet in facets for word in facet.keywords if word.strip()))
    queries = list(dict.fromkeys(query for facet in facets for query in facet.queries if query.strip()))
    relevance_of_text = _seen([*keywords, *(event_text(query) for query in queries)], view, scorer)
    screen = word_set(" ".join(line.text for line in lines_))
    missing = tuple(
        word
        for word in keywords
        if not frozenset() < word_set(word) <= screen and relevance_of_text.get(word, 0.0) < SUPPORTED
    )
    unmet = [query for query in queries if not _supported(query, lines_, relevance_of_text, vectors)]
    missing_item = next(iter(unmet), "") or next(iter(missing), "")
    labels_shown = scorer.above_vocabulary(
        [text for text, relevance in relevance_of_text.items() if relevance >= SUPPORTED], view
    )
    labels = scorer.labels(view)
    return Observation(
        caption=_caption(described, labels_shown, labels.text() if labels is not None else ""),
        missing=missing,
        needs_more_info=bool(unmet) or bool(missing and not queries),
        missing_visual_keyword=missing_item,
        reasoning=_reasoning(len(queries) - len(unmet), len(queries), len(missing), len(keywords)),
    )


def without_quotations(caption: str) -> str:
    """What a caption of `observe` says of the images, without what it quotes of speech and screen."""
    return _QUOTATION.sub("", caption).strip()


def _seen(texts: Sequence[str], view: VideoView, scorer: ZeroShotScorer) -> dict[str, float]:
    """Relevance of each text to the frame that shows it best; empty where nothing can be seen."""
    plain = [text for text in dict.fromkeys(texts) if content_words(text)]
    relevance = scorer.relevance(plain, view)
    return {} if relevance is None else dict(zip(plain, relevance, strict=True))


def _supported(
    query: str, lines_: Sequence[ScoredLine], relevance_of_text: dict[str, float], vectors: SentenceVectors
) -> bool:
    if relevance_of_text.get(event_text(query), 0.0) >= SUPPORTED:
        return True
    texts = [line.text for line in lines_ if line.kind != "tag"][:MOST_COMPARED]
    return bool(texts) and bool(content_words(query)) and max(relevances(query, texts, vectors)) >= SUPPORTED


def _selected_lines(
    lines_: Sequence[ScoredLine], question: str, view: VideoView, vectors: SentenceVectors
) -> list[ScoredLine]:
    """All lines of a kind that a caption has room for, else those nearest the question, in time order."""
    kept: list[ScoredLine] = []
    for kinds, most in ROOM:
        found = [line for line in lines_ if line.kind in kinds]
        if len(found) > most:
            ranked = [line for line in rank_lines(question, view, vectors) if line.kind in kinds]
            found = sorted(ranked[:most] or found[:most], key=lambda line: (line.start, line.end, line.text))
        kept += found
    return kept


def _caption(lines_: Sequence[ScoredLine], labels_shown: Sequence[str], labels: str) -> str:
    """Empty where nothing is known: a sentence that says so would be read as content."""
    spoken = [line.text for line in lines_ if line.kind in SPOKEN]
    screen = [line.text for line in lines_ if line.kind == "ocr"]
    described = [line.text for line in lines_ if line.kind in _DESCRIBED_KINDS]
    parts = []
    if seems := "; ".join(dict.fromkeys(part for part in (labels, *labels_shown) if part)):
        parts.append(f"Seems to show {seems}.")
    parts += [f"On the screen: {_sentence(text)}" for text in screen]
    parts += [f"Said: {_sentence(text)}" for text in spoken]
    parts += described
    return " ".join(parts)


def _sentence(quotation: str) -> str:
    return f"“{quotation}”" if quotation.endswith((".", "!", "?", "…")) else f"“{quotation}”."


def _reasoning(met: int, queries: int, missing: int, keywords: int) -> str:
    return (
        f"{met} of {queries} events are shown or said, {keywords - missing} of {keywords} keywords are there."
    )


def summarize(request: SummarizeRequest, scorer: ZeroShotScorer, vectors: SentenceVectors) -> VideoSummary:
    """The caption of the whole video."""
    caption = observe(ObserveRequest(request.question, request.view), scorer, vectors).caption
    return VideoSummary(relevant=bool(caption), summary=caption)


MOST_TIMELINE_LINES = 400
LEAST_LENGTH = 0.001


def timeline(request: TimelineRequest, scorer: ZeroShotScorer) -> Timeline:
    """By start. Neighbouring frames with the same wordings are one event."""
    view = request.view
    events = [*_frame_events(view, scorer), *_line_events(view)]
    return Timeline(
        events=tuple(sorted(events, key=lambda event: (event.start, event.end, event.description)))
    )


def caption_window(request: CaptionRequest, scorer: ZeroShotScorer) -> WindowCaption:
    """The nearest labels of the frames, in time order; the keywords change nothing."""
    return WindowCaption(actions=tuple(event.description for event in _frame_events(request.view, scorer)))


def _frame_events(view: VideoView, scorer: ZeroShotScorer) -> list[TimelineEvent]:
    labels = scorer.labels_each(view)
    if labels is None or view.frame_times is None:
        return []
    edges = _edges(view.frame_times, view)
    events: list[TimelineEvent] = []
    for at, label in enumerate(labels):
        text = label.text()
        if not text or edges[at + 1] - edges[at] < LEAST_LENGTH:
            continue
        start, end = float(edges[at]), float(edges[at + 1])
        if events and events[-1].description == text and events[-1].end >= start - LEAST_LENGTH:
            events[-1] = TimelineEvent(start=events[-1].start, end=end, description=text)
        else:
            events.append(TimelineEvent(start=start, end=end, description=text))
    return events


def _edges(times: NDArray[np.float64], view: VideoView) -> NDArray[np.float64]:
    """(n + 1,) half-way between neighbouring frames; the view's own at both ends."""
    inner = (np.asarray(times[1:], np.float64) + np.asarray(times[:-1], np.float64)) / 2
    edges = np.concatenate([[view.start], inner, [view.end]])
    return np.asarray(np.round(np.clip(edges, view.start, view.end), 6), np.float64)


def _line_events(view: VideoView) -> list[TimelineEvent]:
    return [
        TimelineEvent(
            start=max(0.0, line.start), end=max(line.end, line.start + LEAST_LENGTH), description=line.text
        )
        for line in lines(view)[:MOST_TIMELINE_LINES]
        if line.kind != "tag" and line.text and view.start <= line.start < view.end
    ]
