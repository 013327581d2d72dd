"""Packs to a reading, and the answering reasoner's reply to an answer with citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.records import Evidence, Frames
from localization.records import Window
from rag.agents.video_detective.features import VideoFeatures
from rag.agents.video_detective.records import Pack
from rag.agents.video_detective.wording import cited_texts, evidence_of, texts_of
from rag.questions import option_label
from rag.reasoners.embedded.rewriting import rewrite_question
from rag.reasoners.roles import AnchorEvent, ChosenOption, OpenAnswer, Reading, ReadWindow
from rag.records import Answer, Question, ScoredOption, Usage, VideoCitation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    ReadFrames = Callable[[str, NDArray[np.float64]], Frames | None]

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
        windows=tuple(
            _window(features, pack, _texts(question, features, pack), read_frames) for pack in packs
        ),
        passages=(),
        must_choose=must_choose,
        searched_by_option=True,
    )


def answer_of(
    question: Question,
    reply: ChosenOption | OpenAnswer,
    reading: Reading,
    usage: Usage,
    timings: Mapping[str, float],
    details: Mapping[str, Any],
) -> Answer:
    """The answer made of a reply and the reading it cites."""
    said = reply.text if isinstance(reply, OpenAnswer) else None
    cited = tuple(_citation(reading.windows[index], said) for index in sorted(set(reply.windows)))
    shared: dict[str, Any] = {
        "question": question,
        "explanation": reply.explanation,
        "citations": cited,
        "usage": usage,
        "timings": timings,
        "details": details,
    }
    if isinstance(reply, OpenAnswer):
        matched = bool(reply.text.strip())
        text = reply.text if matched else NO_ANSWER
        return Answer(choice=None, text=text, confidence=reply.confidence, matched=matched, **shared)
    labels = [option_label(index) for index in range(len(question.options))]
    if reply.choice not in labels:
        return Answer(choice=None, text=NO_ANSWER, confidence=0.0, matched=False, **shared)
    at = labels.index(reply.choice)
    scores = reply.scores or tuple(float(index == at) for index in range(len(labels)))
    return Answer(
        choice=reply.choice,
        text=question.options[at],
        confidence=reply.confidence,
        matched=True,
        options=tuple(map(ScoredOption, labels, question.options, scores)),
        **shared,
    )


def together(first: Usage, second: Usage) -> Usage:
    """What two stretches cost."""
    roles = {role: dict(row) for role, row in first.by_role.items()}
    for role, row in second.by_role.items():
        held = roles.setdefault(role, {})
        for key, value in row.items():
            held[key] = held.get(key, 0.0) + value
    return Usage(
        calls=first.calls + second.calls,
        prompt_tokens=first.prompt_tokens + second.prompt_tokens,
        completion_tokens=first.completion_tokens + second.completion_tokens,
        image_tokens=first.image_tokens + second.image_tokens,
        seconds=first.seconds + second.seconds,
        by_role=roles,
    )


def _texts(question: Question, features: VideoFeatures, pack: Pack) -> tuple[Evidence, ...]:
    """The best line of a pack, which options are weighed by (equation 14); an open answer quotes, and
    must have whole sentences to quote."""
    if not question.options:
        return texts_of(features, pack)
    return (evidence_of(features.video.video_id, pack.words),) if pack.words is not None else ()


def _window(
    features: VideoFeatures, pack: Pack, texts: tuple[Evidence, ...], read_frames: ReadFrames | None
) -> ReadWindow:
    times = np.array(pack.times, np.float64)
    index = np.searchsorted(features.times, times - 1e-6)
    video = features.video
    pictured = bool(features.vectors.shape[1]) and len(times) > 0
    return ReadWindow(
        path=features.path,
        title=video.title,
        clip=features.clip_at(pack.start),
        window=Window(video.video_id, pack.start, max(pack.end, pack.start + SPAN), pack.belief),
        retrieval_score=min(1.0, max(0.0, pack.belief)),
        texts=texts,
        frame_times=times if pictured else None,
        frame_vectors=features.vectors[index] if pictured else None,
        frames=read_frames(features.path, times) if read_frames is not None and len(times) else None,
    )


def _citation(read: ReadWindow, said: str | None) -> VideoCitation:
    """`said`: an open answer, which is cited by what it quotes."""
    window = read.window
    texts = read.texts if said is None else cited_texts(said, read.texts)
    return VideoCitation(read.path, window.video_id, window.start, window.end, read.retrieval_score, texts)
