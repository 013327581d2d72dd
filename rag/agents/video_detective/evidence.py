"""From the final belief to what the answering reasoner sees: packs of frames and words, 32 frames in all.

VideoDetective, section 3.4, appendix C and table 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from corpora.records import SPOKEN, Evidence, Frames
from localization.belief import BeliefField, distinct, diverse, graph_nms
from localization.windows import TIME_STEP, Window
from rag.agents.video_detective.features import Scorer, VideoFeatures, evenly
from rag.agents.video_detective.records import DetectiveSettings, Pack, Selected, Words
from rag.citations import QUOTED, quoted_texts
from rag.cues import joined_cues
from rag.reasoners.embedded.rewriting import rewrite_question
from rag.reasoners.roles.answers import ChosenOption, OpenAnswer
from rag.reasoners.roles.questions import AnchorEvent
from rag.reasoners.roles.reading import Reading, ReadWindow
from rag.records import Question, VideoCitation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    ReadFrames = Callable[[str, NDArray[np.float64]], Frames | None]


DUPLICATE = 0.92
"""A frame more like one already taken is left out (table 7)."""
RELAXED_DUPLICATE = 0.95
"""The same, for those left out, where places are still free."""
LEAST_ALIKE = 0.90
"""Last, free places go to the frames least like all taken, as long as they are less alike than this."""


def weak_evidence(scores: Sequence[float], settings: DetectiveSettings) -> str:
    """Why the looks found too little to choose frames by; empty where they found enough (table 6)."""
    best = max(scores, default=0.0)
    mean = sum(scores) / len(scores) if scores else 0.0
    low = best < settings.fallback_max_relevance
    if settings.fallback == "low best" and not low:
        return ""
    if mean < settings.fallback_mean_relevance or (settings.fallback == "any" and low):
        return f"weak evidence: best score {best:.2f}, mean {mean:.2f}"
    if best - mean < settings.flat_gap:
        return f"flat evidence: best score {best:.2f} lies {best - mean:.2f} above the mean"
    return ""


def select(
    features: VideoFeatures,
    field: BeliefField,
    priors: Sequence[NDArray[np.float64]],
    observed: Mapping[int, Sequence[Words]],
    scorer: Scorer,
    settings: DetectiveSettings,
    fallback: str,
) -> Selected:
    """The packs in time order; with a `fallback` or uniform sampling, of evenly spread frames.

    `priors`: for each facet float64 (k,), the prior of each segment in [0, 1]. `observed`: by segment, the
    words that looks found there. `fallback`: why the evidence is weak, from `weak_evidence`.
    """
    ends = features.segments.ends

    def pack(nodes: Sequence[int], start: float, end: float, times: Sequence[float], chosen: bool) -> Pack:
        spoken = chosen or bool(spread)
        words = _words_of(nodes, start, end, observed, scorer, settings) if spoken else None
        belief = round(float(np.max(field.belief[list(nodes)])), 6)
        return Pack(nodes[0], start, end, tuple(times), words, belief, chosen)

    spread = _spread(features, settings) if fallback or settings.sampling == "uniform" else []
    if spread:
        edges = [0.0, *(times[0] for times in spread[1:]), float(ends[-1])]
        homes = [list(dict.fromkeys(map(features.segments.at, times))) for times in spread]
        rows = zip(homes, pairwise(edges), spread, strict=True)
        return Selected(tuple(pack(nodes, *span, times, False) for nodes, span, times in rows), fallback)
    nodes = graph_nms(field.belief, field.graph, list(priors))
    shown: dict[int, list[float]] = {node: [] for node in nodes}
    for index in sorted(_frames(features, nodes, settings)):
        time = float(features.times[index])
        shown.setdefault(features.segments.at(time), []).append(time)
    packs = [
        pack([node], float(features.segments.starts[node]), float(ends[node]), times, node in nodes)
        for node, times in sorted(shown.items())
    ]
    return Selected(tuple(packs), "")


def _spread(features: VideoFeatures, settings: DetectiveSettings) -> list[list[float]]:
    """Times of evenly spread frames, `frames_per_node` together."""
    frames = features.times[uniform_frames(features, settings.frames)].tolist()
    return [
        frames[at : at + settings.frames_per_node] for at in range(0, len(frames), settings.frames_per_node)
    ]


def uniform_frames(features: VideoFeatures, count: int) -> list[int]:
    """Frames spread evenly over the whole video."""
    return evenly(features.times, 0.0, float(features.segments.ends[-1]), count)


def best_words(words: Sequence[Words]) -> Words | None:
    """e_i^best of equation 14; the earliest of equals."""
    return max(words, key=lambda w: (w.score, -w.start, w.text), default=None)


def _words_of(
    nodes: Sequence[int],
    start: float,
    end: float,
    observed: Mapping[int, Sequence[Words]],
    scorer: Scorer,
    settings: DetectiveSettings,
) -> Words | None:
    """The best words of segments that overlap [start, end) seconds.

    Of a segment that was never looked at, speech and text on the screen are known all the same.
    """
    if not settings.texts:
        return None
    words = (each for node in nodes for each in observed.get(node) or scorer.stored(node))
    return best_words([each for each in words if each.start < end and each.end > start])


def _frames(features: VideoFeatures, nodes: Sequence[int], settings: DetectiveSettings) -> list[int]:
    """At most `frames` indices: those of the packs first, then what fills free places (table 7)."""
    rows, room = features.vectors, settings.frames
    wanted: list[int] = []
    for node in nodes:
        start, end = float(features.segments.starts[node]), float(features.segments.ends[node])
        wanted += evenly(features.times, start, end, settings.frames_per_node)
    wanted = list(dict.fromkeys(wanted))
    if not rows.shape[1]:
        return wanted[:room]
    taken = uniform_frames(features, settings.least_uniform) if settings.uniform == "reserved" else []
    taken += distinct(wanted, rows, similarity=DUPLICATE, taken=taken)[: room - len(taken)]
    for candidates, similarity, most in (
        (wanted, RELAXED_DUPLICATE, room),
        (uniform_frames(features, settings.least_uniform), DUPLICATE, settings.least_uniform),
    ):
        free = min(most, room - len(taken))
        taken += distinct(candidates, rows, similarity=similarity, taken=taken)[:free]
    coarse = list(range(0, len(features.times), 2))
    free = room - len(taken)
    return taken + diverse(coarse, rows, free, similarity=LEAST_ALIKE, taken=taken)


MOST_TEXTS = 32
"""Of those of one pack; the nearest to its best line."""


def evidence_of(video_id: str, words: Words) -> Evidence:
    """Words of a video as evidence."""
    return Evidence(video_id, words.start, words.end, words.kind, words.text)


def texts_of(features: VideoFeatures, pack: Pack) -> tuple[Evidence, ...]:
    """What is stored in words for a pack: its texts, spoken sentences whole, and its caption where the best
    words of the pack are a caption. Empty where a pack has no words."""
    words = pack.words
    if words is None:
        return ()
    inside = [text for text in features.texts if text.start < pack.end and text.end > pack.start]
    if len(inside) > MOST_TEXTS:
        middle = (words.start + words.end) / 2
        inside = sorted(inside, key=lambda text: abs((text.start + text.end) / 2 - middle))[:MOST_TEXTS]
    texts = dict.fromkeys(inside)
    for kind in SPOKEN:
        spoken = [text for text in features.texts if text.kind == kind]
        held = [text for text in inside if text.kind == kind]
        for _, start, end in joined_cues(spoken):
            if any(text.start < end and text.end > start for text in held):
                texts |= dict.fromkeys(text for text in spoken if text.start < end and text.end > start)
    if words.kind == "caption":
        texts[evidence_of(features.video.video_id, words)] = None
    return tuple(sorted(texts, key=_place))


def _place(text: Evidence) -> tuple[float, float, str, str]:
    return text.start, text.end, text.kind, text.text


NO_ANSWER = "What was seen of the video supports no answer."
SPAN = 0.001
"""Seconds; the shortest window that is an interval."""


def read_packs(
    question: Question,
    features: VideoFeatures,
    packs: Sequence[Pack],
    event: str,
    read_frames: ReadFrames | None,
    *,
    must_choose: bool,
) -> Reading:
    """What is laid before the answering reasoner: one window a pack, in time order (appendix C.2).

    `event`: what must be seen to answer. `read_frames`: decodes, for a reasoner that reads pixels.
    """
    return Reading(
        question=question,
        # What the scene looks like, by rule: a language model is shown only the event.
        rewritten=rewrite_question(question),
        anchor=AnchorEvent(description=event),
        windows=tuple(_window(question, features, pack, read_frames) for pack in packs),
        passages=(),
        must_choose=must_choose,
    )


def pack_citations(
    reading: Reading,
    reply: ChosenOption | OpenAnswer,
    moment: Callable[[float, float], tuple[float, float]] | None = None,
) -> tuple[VideoCitation, ...]:
    """What a reply rests on in the packs that it names, in time order.

    The seconds of the texts that the answer, or the explanation of a choice, quotes; else, of a choice, those
    of the text that its options were weighed by; without one those of `moment`, which finds the frames that
    speak most to it between two times: a pack may be the whole video.
    """
    said = [reply.text] if isinstance(reply, OpenAnswer) else QUOTED.findall(reply.explanation)
    cited = []
    for read in (reading.windows[index] for index in sorted(set(reply.windows))):
        start, end, texts = read.window.start, read.window.end, read.texts
        quoted = quoted_texts(said, texts)
        if isinstance(reply, OpenAnswer):
            texts = quoted or texts
        else:
            quoted = quoted or texts
        if quoted:
            start = min(text.start for text in quoted)
            end = max([start + SPAN, *(text.end for text in quoted)])
        elif moment is not None:
            start, end = moment(start, end)
            texts = tuple(text for text in texts if text.start < end and text.end > start) or texts
        cited.append(VideoCitation(read.path, read.window.video_id, start, end, read.retrieval_score, texts))
    return tuple(cited)


def _window(
    question: Question, features: VideoFeatures, pack: Pack, read_frames: ReadFrames | None
) -> ReadWindow:
    """Options are weighed by the best text of a pack (equation 14); an open answer quotes whole sentences."""
    if not question.options:
        texts = texts_of(features, pack)
    else:
        texts = () if pack.words is None else (evidence_of(features.video.video_id, pack.words),)
    times = np.array(pack.times, np.float64)
    index = np.searchsorted(features.times, times - TIME_STEP)
    video = features.video
    embedded = bool(features.vectors.shape[1]) and len(times) > 0
    # The last segment lasts as long as the others, beyond the end of the video.
    end = max(min(pack.end, video.duration), pack.start + SPAN)
    return ReadWindow(
        path=features.path,
        title=video.title,
        clip=features.clip_at(pack.start),
        window=Window(video.video_id, pack.start, end, pack.belief),
        retrieval_score=min(1.0, max(0.0, pack.belief)),
        texts=texts,
        frame_times=times if embedded else None,
        frame_vectors=features.vectors[index] if embedded else None,
        frames=read_frames(features.path, times) if read_frames is not None and len(times) else None,
    )
