"""What the benchmark says of a run, which the agent never sees: the address, the content, the frame.

Rule          the address of a candidate is that of the video (section 3.2, the fast path).
Model+rule    the rule, or both judges take a candidate for the video by the global impression (table 1).
Frame         text and image of a located frame match the description and the reference frame (F.3, F.4).
Truth         where every upload of the video is known: whether a candidate is one, and whether the
              moment lies in the true shot of the original.
CLIP score    cosine of image vectors from 0.7 on: a rule without a model, beside figure 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.tasks.rvms.records import RvmsSample, Shown
from localization.sampling import midpoints
from rag.agents.raclo.records import CandidateVideo, Moment
from rag.agents.raclo.settings import PAPER
from rag.agents.raclo.verification import shown, verify
from rag.agents.runtime.frame_source import FrameSource, WebVideo, fetch_video
from rag.agents.runtime.retry import RetryPolicy
from rag.errors import FileProblem, ReasonerError, ReasonerUnreachable, WebError
from rag.reasoners.roles import MATCH_FRAME, MatchRequest, Memory, Reasoner, VideoView
from rag.web import SearchResult
from rag.web.catalogue import address

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag.records import NearDuplicate
    from rag.web import MockWeb

CLIP_SCORE = 0.7
EVENT_SLACK = 2.0
"""Seconds before and after the event in which a moment counts as on it."""
AROUND = 2.0
"""Seconds of sound on both sides of a frame that is judged."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One candidate against the truth. None: cannot be said."""

    url: str
    rule: bool
    true: bool
    """It shows the video, as the original, a mirror or a changed copy."""
    copied: bool | None
    """The stored fingerprints call it the same video as the original."""
    model: bool | None
    """Both judges take it for the video by the global impression; None for tasks without one."""
    video_score: float | None
    """Cosine of the mean image vectors of the candidate and of the original."""
    frame: bool | None
    """The judge takes its located frame for the moment: text and image match."""
    frame_score: float | None
    """Cosine of the located frame and the reference frame."""
    in_shot: bool | None
    """Its moment lies in the true shot; False for another video; None where no moment is asked for."""
    on_event: bool | None
    error: float | None
    """Seconds between its moment and the key time, of a true candidate."""

    def line(self) -> dict[str, Any]:
        """As JSON has it, small."""
        names = self.__slots__
        values = {name: getattr(self, name) for name in names}
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()}


class Checker:
    """Over one web. `reasoner` and `second` say whether frames and videos match. Where one of them does not
    answer in a form that can be read, nothing is certified; `ReasonerUnreachable` is raised."""

    def __init__(
        self, web: MockWeb, frame_source: FrameSource, reasoner: Reasoner, second: Reasoner | None
    ) -> None:
        self._web, self._eyes, self._mind, self._second = web, frame_source, reasoner, second
        self._quiet = web.session()
        self._sights: dict[str, WebVideo | None] = {}
        self._known: dict[str, tuple[NearDuplicate, ...]] = {}

    def check(self, sample: RvmsSample, candidate: CandidateVideo) -> Checked:
        upload = next((one for one in sample.uploads if _shows(one, candidate)), None)
        sight, original = self._sight(candidate.url), self._sight(sample.url)
        moment = candidate.moment if sample.asks_moment else None
        at = _original_time(upload, moment)
        located = moment is not None and sight is not None and original is not None
        reference = _frame(original, sample.key_time) if original is not None else None
        return Checked(
            url=candidate.url,
            rule=address(candidate.url) == address(sample.url),
            true=upload is not None,
            copied=self._copied(sight, original),
            model=self._accepted(sample, candidate, sight),
            video_score=_alike(sight, original),
            frame=self._matches(sample, sight, moment, reference) if located else None,
            frame_score=_frames_alike(sight, moment, reference) if located else None,
            in_shot=_inside(at, sample.shot, 0.0) if sample.asks_moment and sample.shot else None,
            on_event=_inside(at, sample.event, EVENT_SLACK) if sample.asks_moment and sample.event else None,
            error=_error(at, sample.key_time),
        )

    def _sight(self, url: str) -> WebVideo | None:
        """Opened once: what is checked against many times is one web's few videos."""
        if url not in self._sights:
            self._sights[url] = self._open(url)
        return self._sights[url]

    def _open(self, url: str) -> WebVideo | None:
        entry = self._web.catalogue.video(url)
        if entry is None:
            return None
        result = SearchResult(1, entry.url, entry.title, "", duration=entry.duration)
        try:
            return fetch_video(self._quiet, result, self._eyes, RetryPolicy(3), transcript=True)
        except (WebError, FileProblem):
            return None

    def _copied(self, sight: WebVideo | None, original: WebVideo | None) -> bool | None:
        library = self._eyes.library
        if library is None or sight is None or original is None:
            return None
        if sight.video_id == original.video_id:
            return True
        return any(like.video_id == sight.video_id for like in self._likenesses(original.video_id))

    def _likenesses(self, video_id: str) -> tuple[NearDuplicate, ...]:
        if video_id not in self._known:
            assert self._eyes.library is not None
            self._known[video_id] = self._eyes.library.near_duplicates(video_id)
        return self._known[video_id]

    def _accepted(self, sample: RvmsSample, candidate: CandidateVideo, sight: WebVideo | None) -> bool | None:
        """As the agent judged it, where it did; the check is the benchmark's where it did not."""
        if not sample.asks_video:
            return None
        if candidate.consensus is not None:
            return candidate.accepted
        if sight is None:
            return False
        try:
            return verify(self._mind, self._second, sample.memory, sight, PAPER).agreed
        except ReasonerUnreachable:
            raise
        except (ReasonerError, FileProblem):
            return False

    def _matches(
        self, sample: RvmsSample, sight: WebVideo | None, moment: Moment | None, reference: VideoView | None
    ) -> bool | None:
        if sight is None or moment is None or reference is None:
            return None
        memory: Memory = sample.memory
        context = " ".join(part for part in (memory.before, memory.after) if part)
        request = MatchRequest(
            description=memory.key_moment,
            candidate=_around(sight, moment.time),
            reference=reference,
            constraint_kind="temporal" if context else "",
            constraint=context,
            auditory_memory=memory.auditory_memory,
        )
        try:
            match = self._mind.run(MATCH_FRAME, request)
        except ReasonerUnreachable:
            raise
        except (ReasonerError, FileProblem):
            return False
        return match.text_match and bool(match.image_match)


def verdict_of(sample: RvmsSample, found: list[Checked], chosen: int | None) -> Mapping[str, Any]:
    """The measures of a sample: of any candidate, as the paper has it, and of the one that was chosen."""
    answer = None if chosen is None else found[chosen]
    rule = any(one.rule for one in found)
    model = any(bool(one.model) for one in found)
    frames = [one.frame for one in found if one.frame is not None]
    in_time = sample.asks_moment
    # Without its time there is no reference frame to be held against.
    framed = in_time and sample.key_time is not None
    errors = [one.error for one in found if one.error is not None]
    return {
        "rule": rule,
        "model_rule": (rule or model) if sample.asks_video else None,
        "model_rule_true": (
            rule or any(one.true and bool(one.model) for one in found) if sample.asks_video else None
        ),
        "content": any(one.true for one in found),
        "frame": any(frames) if framed else None,
        "frame_answer": bool(answer is not None and answer.frame) if framed else None,
        "in_shot": any(bool(one.in_shot) for one in found) if in_time and sample.shot else None,
        "in_shot_answer": bool(answer and answer.in_shot) if in_time and sample.shot else None,
        "on_event": any(bool(one.on_event) for one in found) if in_time and sample.event else None,
        "on_event_answer": bool(answer and answer.on_event) if in_time and sample.event else None,
        "error": min(errors) if errors else None,
        "answer_true": bool(answer is not None and answer.true),
        "answer_rule": bool(answer is not None and answer.rule),
    }


def _shows(upload: Shown, candidate: CandidateVideo) -> bool:
    return address(upload.url) == address(candidate.url) or bool(
        upload.video_id and upload.video_id == candidate.video_id
    )


def _original_time(upload: Shown | None, moment: Moment | None) -> float | None:
    return None if upload is None or moment is None else moment.time * upload.speed


def _inside(at: float | None, span: tuple[float, float], slack: float) -> bool:
    return at is not None and span[0] - slack <= at < span[1] + slack


def _error(at: float | None, key_time: float | None) -> float | None:
    return None if at is None or key_time is None else round(abs(at - key_time), 3)


def _frame(sight: WebVideo, time: float | None) -> VideoView | None:
    """One frame, without words; None where none is to be had."""
    if time is None:
        return None
    try:
        view = sight.view(time, time, np.array([time]), transcript=False)
    except (FileProblem, ValueError):
        return None
    return view if view.times else None


def _around(sight: WebVideo, time: float) -> VideoView:
    """One frame with what is said and heard around it."""
    return sight.view(max(0.0, time - AROUND), time + AROUND, np.array([time]))


def _frames_alike(sight: WebVideo | None, moment: Moment | None, reference: VideoView | None) -> float | None:
    if sight is None or moment is None or reference is None:
        return None
    found = _frame(sight, moment.time)
    if found is None or found.frame_vectors is None or reference.frame_vectors is None:
        return None
    return float(_unit(found.frame_vectors[0]) @ _unit(reference.frame_vectors[0]))


def _alike(sight: WebVideo | None, original: WebVideo | None) -> float | None:
    if sight is None or original is None:
        return None
    means = []
    for one in (sight, original):
        view = shown(one, midpoints(0.0, one.duration, PAPER.verify_frames), PAPER)
        if view.frame_vectors is None:
            return None
        means.append(_unit(view.frame_vectors.mean(axis=0)))
    return float(means[0] @ means[1])


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = vector.astype(np.float64)
    return np.asarray(wide / max(float(np.linalg.norm(wide)), 1e-12), np.float64)
